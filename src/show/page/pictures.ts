/** Pictures of the report: bars, lines and columns as SVG, with their numbers as text and as a title. */
import { count } from "../../common/figures.ts";
import { html, type Markup, type MarkupValue } from "./page.ts";

/** Numbers of values in the order of drawing, by classes of the style sheet, which differ in lightness. */
type BarParts = Readonly<Partial<Record<"mapped" | "missing" | "unsent", number>>>;

/** Width of the thinnest part that is drawn, in percent. */
const THINNEST = 0.5;

/** A stacked bar. `most`: number of values that a full bar has. */
export function bar(parts: BarParts, most: number, title: string): Markup {
  let left = 0;
  const drawn = Object.entries(parts).map(([kind, number]) => {
    const width = number === 0 ? 0 : Math.max(THINNEST, (number / most) * 100);
    left += width;
    return (
      number > 0 &&
      html`<rect class="${kind}" x="${round(left - width)}" width="${round(width)}" height="1"/>`
    );
  });
  return html`<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" role="img"><title>${title}</title>${drawn}</svg>`;
}

export interface BarRow {
  readonly label: MarkupValue;
  readonly parts: BarParts;
  /** Cells after the bar. */
  readonly cells: readonly MarkupValue[];
  /** Whether the row is the sum of those after it. */
  readonly isTotal?: boolean;
}

/** A table with a bar in each row. `heads`: of the label, the bar and the cells; `unit`: what the bars count, if not values. */
export function barTable(
  caption: string,
  heads: readonly string[],
  rows: readonly BarRow[],
  unit?: string,
): Markup {
  const sumOf = (parts: BarParts) => Object.values(parts).reduce((sum, number) => sum + number, 0);
  const most = Math.max(1, ...rows.map(({ parts }) => sumOf(parts)));
  const titleIn = (parts: BarParts) =>
    Object.entries(parts)
      .map(([kind, number]) => `${count(number)} ${unit ?? (kind === "unsent" ? "not sent" : kind)}`)
      .join(", ");
  return html`<div class="scroll" role="group" tabindex="0" aria-label="${caption}"><table class="bars">
<caption class="visually-hidden">${caption}</caption>
<thead><tr>${heads.map((head, index) => html`<th scope="col"${index > 1 && html` class="number"`}>${head}</th>`)}</tr></thead>
<tbody>${rows.map(
    ({ label, parts, cells, isTotal = false }) =>
      html`<tr${isTotal && html` class="total"`}><th scope="row">${label}</th><td>${bar(parts, most, titleIn(parts))}</td>${cells.map((cell) => html`<td class="number">${cell}</td>`)}</tr>\n`,
  )}</tbody>
</table></div>`;
}

/** A number of a run. */
export interface RunPoint {
  readonly sequence: number;
  readonly value: number;
}

const titleOf = (what: string, points: readonly RunPoint[], textOf: (value: number) => string) =>
  `${what}: ${points.map(({ sequence, value }) => `run ${sequence}: ${textOf(value)}`).join(", ")}`;

/** Smallest range of a line, as a share of its highest value, so that small changes look small. */
const LEAST_RANGE = 0.1;

/** A line over the runs, from the lowest to the highest value; empty for less than two runs. */
export function runLine(
  what: string,
  points: readonly RunPoint[],
  textOf: (value: number) => string,
): Markup | "" {
  if (points.length < 2) return "";
  const values = points.map(({ value }) => value);
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  const range = Math.max(highest - lowest, highest * LEAST_RANGE, Number.MIN_VALUE);
  const at = (value: number, index: number) => {
    const up = 0.5 + (value - (highest + lowest) / 2) / range;
    return `${round((index / (points.length - 1)) * 96 + 2)} ${round(22 - up * 20)}`;
  };
  const path = values.map((value, index) => `${index === 0 ? "M" : "L"}${at(value, index)}`).join("");
  const last = at(values.at(-1) ?? 0, values.length - 1);
  return html`<svg class="line" viewBox="0 0 100 24" preserveAspectRatio="none" role="img"><title>${titleOf(what, points, textOf)}</title><path d="${path}"/><path class="dot" d="M${last}h0"/></svg>`;
}

/** A column for each run; the last one is dark. */
export function runColumns(what: string, points: readonly RunPoint[]): Markup {
  const most = Math.max(1, ...points.map(({ value }) => value));
  const step = 100 / Math.max(8, points.length);
  const drawn = points.map(({ value }, index) => {
    const height = value === 0 ? 0 : Math.max(1.5, (value / most) * 24);
    const left = 100 - (points.length - index) * step;
    return html`<rect${index === points.length - 1 && html` class="last"`} x="${round(left)}" y="${round(24 - height)}" width="${round(step * 0.7)}" height="${round(height)}"/>`;
  });
  return html`<svg class="columns" viewBox="0 0 100 24" preserveAspectRatio="none" role="img"><title>${titleOf(what, points, count)}</title><rect y="23.5" width="100" height="0.5"/>${drawn}</svg>`;
}

function round(number: number): string {
  return String(Number(number.toFixed(2)));
}
