/** Changes of mapped values over the last runs, by cause, from the history that the run carries. */

import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { count, counted } from "../../common/figures.ts";
import { historySql } from "../../load/macros.ts";
import { CAUSES } from "../../tables/history.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { loadSql } from "../load-sql.ts";
import { instant, integer, keep, rowsOf } from "../rows.ts";
import { barChart } from "./charts.ts";
import { capitalized, dayOf, minute } from "./format.ts";
import { type Column, html, type Markup, sql, table } from "./markup.ts";

/** Runs that the chart goes back. */
const RUNS_SHOWN = 30;

const runRow = z.object({
  run: z.string(),
  sequence: integer,
  startedAt: instant,
  verdict: z.string(),
  /** Whether the history begins with it, so that there is nothing to compare it with. */
  begins: z.boolean(),
});

const changeRow = z.object({
  run: z.string(),
  cause: z.enum(CAUSES),
  /** Items with such a change. */
  items: integer,
  values: integer,
});
type Change = Readonly<z.output<typeof changeRow>>;

export interface RunChanges extends Readonly<z.output<typeof runRow>> {
  /** By cause, in the order of the causes; only those that are there. */
  readonly changes: readonly Change[];
}

/** The last runs, the oldest first; undefined where the pipeline has no history. */
export async function readChanges(
  connection: DuckDBConnection,
  rows: Manifest["rows"],
): Promise<readonly RunChanges[] | undefined> {
  if (!Object.hasOwn(rows, "run_history") || !Object.hasOwn(rows, "mapped_value_history")) return undefined;
  await keep(connection, "report_runs", loadSql("report_runs"), [RUNS_SHOWN]);
  const changes = await rowsOf(connection, changeRow, historySql("report_changes", loadSql));
  changes.sort((a, b) => CAUSES.indexOf(a.cause) - CAUSES.indexOf(b.cause));
  const byRun = Map.groupBy(changes, ({ run }) => run);
  const runs = await rowsOf(
    connection,
    runRow,
    "SELECT *, previous_run IS NULL AS begins FROM report_runs ORDER BY sequence",
  );
  return runs.map((run) => ({ ...run, changes: byRun.get(run.run) ?? [] }));
}

export function changesSection(runs: readonly RunChanges[] | undefined, run: string): Markup {
  return html`<section id="changes" aria-labelledby="changes-title">
<h2 id="changes-title">Changes</h2>
${runs === undefined ? html`<p class="empty">The pipeline of this run leaves the history out, so it cannot say what changed.</p>` : body(runs, run)}
</section>`;
}

function body(runs: readonly RunChanges[], run: string): Markup {
  const compared = runs.filter(({ begins }) => !begins);
  if (compared.length === 0) {
    return html`<p class="empty">The history begins with this run: from the next one on, what changed stands here, with its cause.</p>`;
  }
  const total = compared.flatMap(({ changes }) => changes).reduce((sum, { values }) => sum + values, 0);
  const begun = runs.find(({ begins }) => begins);
  return html`<p class="lead">Mapped values that changed in each run, by the first of their causes.${begun !== undefined && ` With run ${begun.sequence} the history begins, so it is compared with nothing.`}</p>
${total === 0 ? html`<p class="empty">Nothing changed ${compared.length === 1 ? "since the run before" : `in the last ${compared.length} runs`}.</p>` : chart(compared)}
${total > 0 && html`<details><summary>The figures as a table</summary>${figures(compared)}</details>`}
${runs.length > 1 && html`<details><summary>Each change since the run before</summary><p class="note"><code>content-warehouse diff ${runs.at(-2)?.run ?? run} ${run}</code>, or in SQL:</p>${sql(changesSql(runs, run))}</details>`}`;
}

function present(runs: readonly RunChanges[]): string[] {
  const there = new Set(runs.flatMap(({ changes }) => changes.map(({ cause }) => cause)));
  return CAUSES.filter((cause) => there.has(cause));
}

function nameOf(cause: string): string {
  return cause === "first_seen" ? "new item or value" : cause.replaceAll("_", " ");
}

function chart(runs: readonly RunChanges[]): Markup {
  const causes = present(runs);
  const total = (cause: string) => runs.reduce((sum, { changes }) => sum + valuesOf(changes, cause), 0);
  const description = `Bar chart of changed values in ${counted(runs.length, "run")}, by cause: ${causes
    .map((cause) => `${nameOf(cause)} ${count(total(cause))}`)
    .join(", ")}. The table below has the figures.`;
  const days = new Map(
    runs.map(({ run, sequence, startedAt }) => [run, `${sequence} · ${dayOf(startedAt)}`]),
  );
  return html`<figure>
${barChart({
  title: "changed values",
  runs: runs.map(({ run }) => run),
  labelOf: (run) => days.get(run) ?? run,
  series: causes,
  colorOf: (cause) => `var(--cause-${cause})`,
  bars: runs.flatMap(({ run, changes }) =>
    changes.map(({ cause, values, items }) => ({
      run,
      series: cause,
      values,
      title: `${nameOf(cause)}: ${counted(values, "value")} of ${counted(items, "item")}`,
    })),
  ),
  description,
})}
<figcaption><ul class="legend">${causes.map((cause) => html`<li><span class="swatch cause-${cause}"></span>${nameOf(cause)}</li>`)}</ul></figcaption></figure>`;
}

function valuesOf(changes: readonly Change[], cause: string): number {
  return changes.find((change) => change.cause === cause)?.values ?? 0;
}

function figures(runs: readonly RunChanges[]): Markup {
  const columns: Column<RunChanges>[] = [
    { head: "Run", cell: ({ run, sequence }) => html`<abbr title="${run}">${sequence}</abbr>`, kind: "head" },
    { head: "Started", cell: ({ startedAt }) => minute(startedAt) },
    { head: "Verdict", cell: ({ verdict }) => verdict },
    ...present(runs).map(
      (cause): Column<RunChanges> => ({
        head: capitalized(nameOf(cause)),
        cell: ({ changes }) => count(valuesOf(changes, cause)),
        kind: "number",
      }),
    ),
  ];
  return table({ caption: "Changed values per run and cause", columns, rows: runs.toReversed() });
}

function changesSql(runs: readonly RunChanges[], run: string): string {
  const before = runs.at(-2)?.run ?? run;
  return `SELECT causes, custom_field_id, destination_id, count(*) AS values
FROM mapped_value_changes('${before}', '${run}')
GROUP BY ALL ORDER BY values DESC`;
}
