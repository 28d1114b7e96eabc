/** The charts, drawn with Observable Plot into SVG that needs no script. Colours are the page's own, by theme. */
import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import { count } from "../../common/figures.ts";
import { dayOf } from "./format.ts";
import { html, type Markup, trusted } from "./markup.ts";

/** Steps of the heat map: 0 is all covered, the last one nothing. */
export const HEAT_STEPS = [
  { least: 1, label: "100%" },
  { least: 0.95, label: "95% to 99.9%" },
  { least: 0.8, label: "80% to 94.9%" },
  { least: 0.5, label: "50% to 79.9%" },
  { least: Number.MIN_VALUE, label: "under 50%" },
  { least: 0, label: "none" },
] as const;

export function heatStep(share: number): number {
  return HEAT_STEPS.findIndex(({ least }) => share >= least);
}

export interface HeatCell {
  /** Of the row and the column; unique. */
  readonly row: string;
  readonly column: string;
  /** Number of a step, or a word for a cell without a share. */
  readonly step: number | "none" | "unmappable";
  readonly label: string;
  readonly title: string;
}

export interface HeatMap {
  readonly title: string;
  readonly description: string;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly cells: readonly HeatCell[];
  /** What a row or a column is called. */
  readonly nameOf: (key: string) => string;
}

/** Widths of a chart in pixels: for screens, and for phones. */
const WIDE = 1040;
const NARROW = 328;

const PLAIN_SCALE = { label: null, tickSize: 0 } as const;

export function heatMap(map: HeatMap): Markup {
  const columns = Math.max(1, map.columns.length);
  const wide = Math.min(WIDE, 220 + columns * 170);
  const narrow = Math.max(NARROW, 124 + columns * 92);
  return both(
    map.title,
    drawHeatMap(map, { width: wide, marginLeft: 220, size: 13 }),
    drawHeatMap(map, { width: narrow, marginLeft: 124, size: 11 }),
  );
}

/** Letters that fit into so many pixels, whatever the font; a label that is longer is cut. */
function lettersIn(width: number, size: number): number {
  return Math.floor(width / (size * 0.62));
}

/** All in pixels; `size`: of the font. */
function drawHeatMap(
  { description, rows, columns, cells, nameOf }: HeatMap,
  { width, marginLeft, size }: Readonly<Record<"width" | "marginLeft" | "size", number>>,
): string {
  const columnLetters = lettersIn((width - marginLeft) / Math.max(1, columns.length) - 8, size);
  const rowLetters = lettersIn(marginLeft - 12, size);
  const heads = new Map(columns.map((key) => [key, twoLines(nameOf(key), columnLetters)]));
  const headHeight = [...heads.values()].some((head) => head.includes("\n")) ? 50 : 34;
  const rowHeight = 30;
  const common = { x: "column", y: "row" } as const;
  const scale = { ...PLAIN_SCALE, padding: 0 } as const;
  return draw(description, size, {
    width,
    height: headHeight + rows.length * rowHeight,
    marginLeft,
    marginTop: headHeight,
    marginRight: 0,
    marginBottom: 0,
    x: {
      ...scale,
      domain: [...columns],
      axis: "top",
      tickPadding: 10,
      tickFormat: (key: string) => heads.get(key) ?? key,
    },
    y: {
      ...scale,
      domain: [...rows],
      tickPadding: 12,
      tickFormat: (key: string) => cut(nameOf(key), rowLetters),
    },
    marks: [
      Plot.cell(cells, {
        ...common,
        fill: ({ step }: HeatCell) => `var(--heat-${step})`,
        inset: 1.5,
        rx: 3,
        title: "title",
      }),
      Plot.text(cells, {
        ...common,
        text: "label",
        fill: ({ step }: HeatCell) => `var(--heat-ink-${step})`,
        fontVariant: "tabular-nums",
        pointerEvents: "none",
      }),
    ],
  });
}

/** A run, as charts and tables over several have it. */
export interface ChartedRun {
  readonly run: string;
  readonly sequence: number;
  readonly startedAt: Date;
}

interface Bar {
  readonly series: string;
  readonly values: number;
  readonly title: string;
}

export interface BarChart<Run> {
  readonly title: string;
  readonly description: string;
  /** The oldest first. */
  readonly runs: readonly Run[];
  /** From the bottom of a bar to its top; each is coloured by the variable of its name. */
  readonly series: readonly string[];
  readonly barsOf: (run: Run) => readonly Bar[];
}

/** Of a run's label, in pixels; where they would touch, some are left out. */
const LABEL_WIDTH = 80;
/** On a phone, the last of the runs. */
const RUNS_ON_PHONE = 12;

export function barChart<Run extends ChartedRun>(chart: BarChart<Run>): Markup {
  const runs = chart.runs.slice(-RUNS_ON_PHONE);
  const wide = Math.min(WIDE, Math.max(420, 80 + chart.runs.length * 96));
  return both(chart.title, drawBars(chart, wide, 280), drawBars({ ...chart, runs }, NARROW, 220));
}

function drawBars<Run extends ChartedRun>(
  { description, runs, series, barsOf }: BarChart<Run>,
  width: number,
  height: number,
): string {
  const every = Math.ceil((runs.length * LABEL_WIDTH) / (width - 72));
  const labels = new Map(
    runs.map(({ run, sequence, startedAt }) => [run, `${sequence} · ${dayOf(startedAt)}`]),
  );
  const bars = runs.flatMap((run) => barsOf(run).map((bar) => ({ run: run.run, ...bar })));
  return draw(description, 12, {
    width,
    height,
    marginLeft: 52,
    marginRight: 20,
    marginTop: 16,
    marginBottom: 28,
    x: {
      ...PLAIN_SCALE,
      type: "band",
      domain: [...labels.keys()],
      tickPadding: 8,
      padding: 0.35,
      tickFormat: (run: string, index: number) =>
        (runs.length - 1 - index) % every === 0 ? labels.get(run) : "",
    },
    y: {
      ...PLAIN_SCALE,
      grid: true,
      ticks: 4,
      nice: true,
      tickFormat: (value: number) => (Number.isInteger(value) ? count(value) : ""),
    },
    marks: [
      Plot.barY(bars, {
        x: "run",
        y: "values",
        z: "series",
        fill: (bar: Bar) => `var(--${bar.series})`,
        order: [...series],
        title: "title",
        insetTop: 1,
      }),
      Plot.ruleY([0], { stroke: "var(--line-strong)" }),
    ],
  });
}

function cut(text: string, letters: number): string {
  const characters = [...text];
  return characters.length <= letters ? text : `${characters.slice(0, Math.max(1, letters - 1)).join("")}…`;
}

/** A text that is too long for a line is broken at a space. */
function twoLines(text: string, letters: number): string {
  const line = text.replaceAll("\n", " ");
  const space = line.lastIndexOf(" ", letters);
  if (line.length <= letters || space < 1) return cut(line, letters);
  return `${line.slice(0, space)}\n${cut(line.slice(space + 1), letters)}`;
}

/** One of the two is shown, by the width of the screen. `title`: no other chart of the page has it. */
function both(title: string, wide: string, narrow: string): Markup {
  return html`<div class="chart-scroll" role="region" aria-label="Chart: ${title}" tabindex="0"><div class="chart wide">${trusted(wide)}</div><div class="chart narrow">${trusted(narrow)}</div></div>`;
}

/**
 * The SVG alone, as one picture with a description: what it says stands in a table beside it. Plot's own style element
 * goes, because the page allows no style but its own.
 */
function draw(description: string, fontSize: number, options: Plot.PlotOptions): string {
  const { document } = parseHTML("<!doctype html><html><body></body></html>");
  const svg = Plot.plot({ ...options, document, className: "plot" });
  for (const element of svg.querySelectorAll("style")) element.remove();
  // Within one picture, its parts have no names of their own.
  for (const element of svg.querySelectorAll("g[aria-label]")) element.removeAttribute("aria-label");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", description);
  svg.setAttribute("font-size", String(fontSize));
  return String(svg.outerHTML);
}
