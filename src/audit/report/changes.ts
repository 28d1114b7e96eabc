/** The run beside those before it: mapped values that changed, from the history that it carries, and the kept runs. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { count, counted } from "../../common/figures.ts";
import { historySql } from "../../load/macros.ts";
import { CAUSES, type Cause } from "../../tables/history.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { loadSql } from "../load-sql.ts";
import { instant, integer, keep, rowsOf } from "../rows.ts";
import { barChart, type ChartedRun } from "./charts.ts";
import type { EarlierRuns, RunFigures } from "./earlier-runs.ts";
import { capitalized, minute } from "./format.ts";
import { type Column, html, type Markup, section, sql, table } from "./markup.ts";

/** Runs that the chart of changes goes back. */
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

export function changesSection(runs: readonly RunChanges[] | undefined): Markup {
  return section("changes", "Changes", runs === undefined ? WITHOUT_HISTORY : changesBody(runs));
}

const WITHOUT_HISTORY = html`<p class="empty">The pipeline of this run leaves the history out, so it cannot say what changed.</p>`;

function changesBody(runs: readonly RunChanges[]): Markup {
  const compared = runs.filter(({ begins }) => !begins);
  if (compared.length === 0) {
    return html`<p class="empty">The history begins with this run: from the next one on, what changed stands here, with its cause.</p>`;
  }
  const changed = new Set(compared.flatMap(({ changes }) => changes.map(({ cause }) => cause)));
  const causes = CAUSES.filter((cause) => changed.has(cause));
  const begun = runs.find(({ begins }) => begins);
  const [before, last] = runs.slice(-2);
  return html`<p class="lead">Mapped values that changed in each run, by the first of their causes.${begun !== undefined && ` With run ${begun.sequence} the history begins, so it is compared with nothing.`}</p>
${causes.length === 0 ? html`<p class="empty">Nothing changed ${compared.length === 1 ? "since the run before" : `in the last ${compared.length} runs`}.</p>` : changesFigure(compared, causes)}
${before !== undefined && last !== undefined && html`<details><summary>Each change since the run before</summary><p class="note"><code>content-warehouse diff ${before.run} ${last.run}</code>, or in SQL:</p>${sql(changesSql(before.run, last.run))}</details>`}`;
}

function changesFigure(runs: readonly RunChanges[], causes: readonly Cause[]): Markup {
  const totals = causes.map((cause) => {
    const total = runs.reduce((sum, { changes }) => sum + valuesOf(changes, cause), 0);
    return `${nameOf(cause)} ${count(total)}`;
  });
  const columns: Column<RunChanges>[] = [
    ...RUN_COLUMNS,
    ...causes.map(
      (cause): Column<RunChanges> => ({
        head: capitalized(nameOf(cause)),
        cell: ({ changes }) => count(valuesOf(changes, cause)),
        kind: "number",
      }),
    ),
  ];
  return html`<figure>
${barChart({
  title: "changed values",
  runs,
  series: causes.map((cause) => `cause-${cause}`),
  barsOf: ({ changes }) =>
    changes.map(({ cause, values, items }) => ({
      series: `cause-${cause}`,
      values,
      title: `${nameOf(cause)}: ${counted(values, "value")} of ${counted(items, "item")}`,
    })),
  description: `Bar chart of changed values in ${counted(runs.length, "run")}, by cause: ${totals.join(", ")}. The table below has the figures.`,
})}
<figcaption><ul class="legend">${causes.map((cause) => html`<li><span class="swatch cause-${cause}"></span>${nameOf(cause)}</li>`)}</ul></figcaption></figure>
${figuresTable("Changed values per run and cause", columns, runs)}`;
}

function nameOf(cause: Cause): string {
  return cause === "first_seen" ? "new item or value" : cause.replaceAll("_", " ");
}

function valuesOf(changes: readonly Change[], cause: Cause): number {
  return changes.find((change) => change.cause === cause)?.values ?? 0;
}

const RUN_COLUMNS: readonly Column<ChartedRun & { readonly verdict: string }>[] = [
  { head: "Run", cell: ({ run, sequence }) => html`<abbr title="${run}">${sequence}</abbr>`, kind: "head" },
  { head: "Started", cell: ({ startedAt }) => minute(startedAt) },
  { head: "Verdict", cell: ({ verdict }) => verdict },
];

/** The newest first. */
function figuresTable<Run>(caption: string, columns: readonly Column<Run>[], runs: readonly Run[]): Markup {
  return html`<details><summary>The figures as a table</summary>${table(caption, columns, runs.toReversed())}</details>`;
}

function changesSql(before: string, run: string): string {
  return `SELECT causes, custom_field_id, destination_id, count(*) AS values
FROM mapped_value_changes('${before}', '${run}')
GROUP BY ALL ORDER BY values DESC`;
}

/** `own`: figures of the run of the page. `earlier` undefined: nothing may be told of other runs. */
export function runsSection(own: RunFigures, earlier: EarlierRuns | undefined): Markup {
  const runs = [...(earlier?.figures ?? []), own];
  return section("runs", "Kept runs", runs.length === 1 ? ALONE : runsBody(runs));
}

const ALONE = html`<p class="empty">There is one run here, this one: from the next run on, items and unmapped values are drawn run by run.</p>`;

function runsBody(runs: readonly RunFigures[]): Markup {
  const unmapped = runs.filter((run) => run.unmapped !== null);
  return html`<p class="lead">Loaded items, and values that are unmapped or unknown, in the ${counted(runs.length, "run")} up to this one that are kept.</p>
<div class="charts">${runsFigure("items", "Loaded items", runs, ({ loaded }) => loaded)}
${unmapped.length > 0 && runsFigure("unmapped", "Unmapped values", runs, (run) => run.unmapped)}</div>
${figuresTable("Loaded, rejected and unmapped per run", FIGURE_COLUMNS, runs)}`;
}

function runsFigure(
  key: "items" | "unmapped",
  title: string,
  runs: readonly RunFigures[],
  figureOf: (run: RunFigures) => number | null,
): Markup {
  const series = `series-${key}`;
  const figures = runs.map(figureOf).filter((figure) => figure !== null);
  const [first = 0, last = 0] = [figures.at(0), figures.at(-1)];
  return html`<figure><figcaption class="chart-title">${title}</figcaption>
${barChart({
  title: title.toLowerCase(),
  runs,
  series: [series],
  barsOf: (run) => {
    const values = figureOf(run);
    return values === null ? [] : [{ series, values, title: `run ${run.sequence}: ${count(values)}` }];
  },
  description: `Bar chart of ${title.toLowerCase()} in ${counted(runs.length, "run")}, from ${count(first)} to ${count(last)}. The table below has the figures.`,
})}</figure>`;
}

const FIGURE_COLUMNS: readonly Column<RunFigures>[] = [
  ...RUN_COLUMNS,
  { head: "Loaded", cell: ({ loaded }) => count(loaded), kind: "number" },
  { head: "Rejected", cell: ({ rejected }) => recorded(rejected), kind: "number" },
  { head: "Unmapped values", cell: ({ unmapped }) => recorded(unmapped), kind: "number" },
];

function recorded(figure: number | null): string {
  return figure === null ? "not recorded" : count(figure);
}
