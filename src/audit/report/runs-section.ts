/** Items and values without an external value over the kept runs. */
import { count, counted } from "../../common/figures.ts";
import { barChart } from "./charts.ts";
import type { EarlierRuns, RunFigures } from "./earlier-runs.ts";
import { dayOf, minute } from "./format.ts";
import { type Column, html, type Markup, table } from "./markup.ts";

/** `own`: figures of the run of the page. `earlier` undefined: nothing may be told of other runs. */
export function runsSection(own: RunFigures, earlier: EarlierRuns | undefined): Markup {
  const runs = [...(earlier?.figures ?? []), own];
  return html`<section id="runs" aria-labelledby="runs-title">
<h2 id="runs-title">Kept runs</h2>
${runs.length === 1 ? html`<p class="empty">${ALONE}</p>` : charts(runs)}
</section>`;
}

const ALONE =
  "There is one run here, this one: from the next run on, items and unmapped values are drawn run by run.";

function charts(runs: readonly RunFigures[]): Markup {
  const unmapped = runs.filter((run) => run.unmapped !== null);
  return html`<p class="lead">Loaded items, and values that are unmapped or unknown, in the ${counted(runs.length, "run")} up to this one that are kept.</p>
<div class="charts">${chart("items", "Loaded items", runs, ({ loaded }) => loaded)}
${unmapped.length > 0 && chart("unmapped", "Unmapped values", runs, (run) => run.unmapped)}</div>
<details><summary>The figures as a table</summary>${table({ caption: "Loaded, rejected and unmapped per run", columns: COLUMNS, rows: runs.toReversed() })}</details>`;
}

function chart(
  series: "items" | "unmapped",
  title: string,
  runs: readonly RunFigures[],
  figureOf: (run: RunFigures) => number | null,
): Markup {
  const labels = new Map(runs.map((run) => [run.run, `${run.sequence} · ${dayOf(run.startedAt)}`]));
  const figures = runs.map(figureOf).filter((figure) => figure !== null);
  const [first = 0, last = 0] = [figures.at(0), figures.at(-1)];
  return html`<figure><figcaption class="chart-title">${title}</figcaption>
${barChart({
  title: title.toLowerCase(),
  runs: runs.map(({ run }) => run),
  labelOf: (run) => labels.get(run) ?? run,
  series: [series],
  colorOf: () => `var(--series-${series})`,
  bars: runs.flatMap((run) => {
    const values = figureOf(run);
    return values === null
      ? []
      : [{ run: run.run, series, values, title: `run ${run.sequence}: ${count(values)}` }];
  }),
  description: `Bar chart of ${title.toLowerCase()} in ${counted(runs.length, "run")}, from ${count(first)} to ${count(last)}. The table below has the figures.`,
})}</figure>`;
}

const COLUMNS: readonly Column<RunFigures>[] = [
  { head: "Run", cell: ({ run, sequence }) => html`<abbr title="${run}">${sequence}</abbr>`, kind: "head" },
  { head: "Started", cell: ({ startedAt }) => minute(startedAt) },
  { head: "Verdict", cell: ({ verdict }) => verdict },
  { head: "Loaded", cell: ({ loaded }) => count(loaded), kind: "number" },
  { head: "Rejected", cell: ({ rejected }) => recorded(rejected), kind: "number" },
  { head: "Unmapped values", cell: ({ unmapped }) => recorded(unmapped), kind: "number" },
];

function recorded(figure: number | null): string {
  return figure === null ? "not recorded" : count(figure);
}
