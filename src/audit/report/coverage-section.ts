/** Coverage as a heat map of fields by destinations, and the values that no destination gets. */
import { count, counted } from "../../common/figures.ts";
import type { Row } from "../../storage/duckdb.ts";
import {
  sentOrNot,
  WITHOUT_EXTERNAL_VALUE,
  WITHOUT_EXTERNAL_VALUE_SQL,
  withoutValueMapping,
} from "../mapping/mapped-value.ts";
import type { Coverage } from "../questions/coverage.ts";
import { HEAT_STEPS, type HeatCell, heatMap, heatStep } from "./charts.ts";
import { capitalized, integer, percent, textOrNull } from "./format.ts";
import {
  type Column,
  foreign,
  html,
  type Markup,
  named,
  plainForeign,
  section,
  sql,
  table,
} from "./markup.ts";

/** Fields and destinations of the heat map, and rows of the tables; there are rarely more. */
const FIELDS_SHOWN = 60;
const DESTINATIONS_SHOWN = 12;
const ROWS_SHOWN = 500;
const VALUES_SHOWN = 100;

export function coverageSection({ coverage, passthrough }: Coverage): Markup {
  const shown = coverage.slice(0, ROWS_SHOWN);
  return section(
    "coverage",
    "Coverage",
    coverage.length === 0
      ? html`<p class="empty">No custom field is mapped for a destination, so there is nothing to cover.</p>`
      : html`<p class="lead">The share of each field’s values that are mapped at each destination. The stronger the colour, the more is missing.</p>
${chart(coverage, passthrough)}
<details><summary>The figures as a table</summary>
${table("Coverage per field and destination, in values", columns(passthrough), shown)}
${coverage.length > shown.length && html`<p class="note">${counted(coverage.length - shown.length, "more row")}: <code>content-warehouse audit --section coverage --format csv</code> has all.</p>`}
</details>`,
  );
}

/** `passthrough`: what becomes of the values of fields without value mappings. */
const columns = (passthrough: boolean): Column<Row>[] => [
  { head: "Field", cell: fieldName, kind: "head" },
  { head: "Destination", cell: destinationName },
  { head: "External name", cell: (row) => foreign(textOrNull(row.external_field_name) ?? "") },
  {
    head: "Covered",
    cell: (row) => share(row) ?? (integer(row.values) === 0 ? "no values" : sentOrNot(passthrough)),
    kind: "number",
  },
  { head: "Items", cell: scalar("items"), kind: "number" },
  { head: "Values", cell: scalar("values"), kind: "number" },
  { head: "Mapped", cell: scalar("mapped"), kind: "number" },
  { head: "Unmapped", cell: scalar("unmapped"), kind: "number" },
  { head: "Unknown", cell: scalar("unknown_value"), kind: "number" },
  { head: capitalized(withoutValueMapping(passthrough)), cell: scalar("no_value_mapping"), kind: "number" },
  { head: "Archived", cell: scalar("archived"), kind: "number" },
  { head: "Ambiguous", cell: scalar("ambiguous"), kind: "number" },
  { head: "Unused entries", cell: scalar("entries_unused"), kind: "number" },
];

function scalar(name: string): (row: Row) => string {
  return (row) => count(integer(row[name]));
}

export function fieldName(row: Row): Markup {
  return named(row.custom_field, row.custom_field_id);
}

export function destinationName(row: Row): Markup {
  return named(row.destination, row.destination_id);
}

/** A value's text, or its ID where it has none. */
export function valueName({ value, value_id: id }: Row): Markup {
  if (typeof value === "string") return value.trim() === "" ? html`<em>empty text</em>` : foreign(value);
  return typeof id === "string" ? html`<code>${foreign(id)}</code>` : html`<em>without text</em>`;
}

function coverable(row: Row): number {
  return integer(row.mapped) + missing(row);
}

/** Values without an external value. */
function missing(row: Row): number {
  return WITHOUT_EXTERNAL_VALUE.reduce((sum, status) => sum + integer(row[status]), 0);
}

function share(row: Row): string | null {
  return percent(integer(row.mapped), coverable(row));
}

/** Fields with the largest gaps stay where there are too many; those shown stand in the order of their names. */
function chart(coverage: readonly Row[], passthrough: boolean): Markup {
  const fields = keysOf(coverage, "custom_field", FIELDS_SHOWN);
  const destinations = keysOf(coverage, "destination", DESTINATIONS_SHOWN);
  const names = new Map([...fields.names, ...destinations.names]);
  const pair = (row: Row) => `${keyOf(row, "custom_field")} ${keyOf(row, "destination")}`;
  const known = new Map(coverage.map((row) => [pair(row), row]));
  const cells = fields.keys.flatMap((row) =>
    destinations.keys.map((column) => ({
      row,
      column,
      ...heatOf(known.get(`${row} ${column}`), passthrough),
    })),
  );
  const leftOut = [
    fields.leftOut > 0 && counted(fields.leftOut, "field"),
    destinations.leftOut > 0 && counted(destinations.leftOut, "destination"),
  ].filter((each) => each !== false);
  return html`<figure>
${heatMap({
  title: "coverage",
  rows: fields.keys,
  columns: destinations.keys,
  cells,
  nameOf: (key) => names.get(key) ?? key,
  description: description(fields.keys.length, destinations.keys.length, coverage),
})}
<figcaption><ul class="legend">${HEAT_STEPS.map(({ label }, step) => html`<li><span class="swatch heat-${step}"></span>${label}</li>`)}<li><span class="swatch heat-unmappable"></span>${withoutValueMapping(passthrough)}</li><li><span class="swatch heat-none"></span>not mapped, or no values</li></ul>
${leftOut.length > 0 && html`<p class="note">The chart leaves out ${leftOut.join(" and ")} with fewer gaps; the table has them.</p>`}
</figcaption></figure>`;
}

type Side = "custom_field" | "destination";

/** A field and a destination may have the same ID. */
function keyOf(row: Row, side: Side): string {
  return `${side} ${row[`${side}_id`]}`;
}

/** The keys to show, ordered by their names, the names of all, and how many are left out. */
function keysOf(coverage: readonly Row[], side: Side, most: number) {
  const gaps = new Map<string, number>();
  const names = new Map<string, string>();
  for (const row of coverage) {
    const key = keyOf(row, side);
    gaps.set(key, (gaps.get(key) ?? 0) + missing(row));
    names.set(key, plainForeign(String(row[side] ?? row[`${side}_id`])));
  }
  const worst = [...gaps].sort(([, a], [, b]) => b - a).slice(0, most);
  const order = (key: string) => names.get(key) ?? "";
  const keys = worst.map(([key]) => key);
  keys.sort((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : a < b ? -1 : 1));
  return { keys, names, leftOut: gaps.size - keys.length };
}

function heatOf(row: Row | undefined, passthrough: boolean): Omit<HeatCell, "row" | "column"> {
  if (row === undefined) return { step: "none", label: "–", title: "not mapped" };
  const [possible, values, mapped] = [coverable(row), integer(row.values), integer(row.mapped)];
  if (possible > 0) {
    const title = `${count(mapped)} of ${counted(possible, "value")} mapped, in ${counted(integer(row.items), "item")}`;
    return { step: heatStep(mapped / possible), label: share(row) ?? "", title };
  }
  if (values === 0) return { step: "none", label: "no values", title: "mapped, but no item has a value" };
  const title = `${counted(values, "value")}, ${withoutValueMapping(passthrough)}`;
  return { step: "unmappable", label: sentOrNot(passthrough), title };
}

function description(fields: number, destinations: number, coverage: readonly Row[]): string {
  const rows = coverage.filter((row) => coverable(row) > 0);
  const whole = rows.filter((row) => coverable(row) === integer(row.mapped)).length;
  return `Heat map of ${counted(fields, "field")} by ${counted(destinations, "destination")}: ${count(whole)} of ${count(rows.length)} pairs with value mappings are covered whole. The table below has the figures.`;
}

export function unmappedSection(coverage: Coverage): Markup {
  const gaps = gapsOf(coverage);
  const shown = gaps.slice(0, VALUES_SHOWN);
  const others = gaps.length - shown.length;
  return section(
    "unmapped",
    "Values without an external value",
    gaps.length === 0
      ? html`<p class="empty">${noGaps(coverage)}</p>`
      : html`<p class="lead">The value that touches most items first.${others > 0 && ` These are the first ${count(shown.length)} of ${count(gaps.length)}.`}</p>
${table("Values without an external value, by the items that have them", VALUE_COLUMNS, shown)}
${others > 0 && html`<p class="note">The other ${count(others)}, in SQL:</p>${sql(unmappedSql(shown.length))}`}`,
  );
}

/** Values that no destination gets. */
export function gapsOf({ values }: Coverage): Row[] {
  const statuses: readonly unknown[] = WITHOUT_EXTERNAL_VALUE;
  return values.filter(({ status }) => statuses.includes(status));
}

/** Values with a value mapping, and those of them that have an external value. */
export function coverageTotals({ coverage }: Coverage): { covered: number; coverable: number } {
  const sum = (valuesOf: (row: Row) => number) => coverage.reduce((total, row) => total + valuesOf(row), 0);
  return { covered: sum(({ mapped }) => integer(mapped)), coverable: sum(coverable) };
}

/** Why there is no value to look at, in a clause. */
export function nothingCoverable({ coverage }: Coverage): string {
  return coverage.length === 0
    ? "no custom field is mapped for a destination"
    : "no item has a value of a field with a value mapping";
}

function noGaps(coverage: Coverage): string {
  return coverageTotals(coverage).coverable === 0
    ? `There is no value to look at: ${nothingCoverable(coverage)}.`
    : "Every value in use of a field with a value mapping is mapped at every destination that its field is mapped for.";
}

const VALUE_COLUMNS: readonly Column<Row>[] = [
  { head: "Items", cell: scalar("items"), kind: "number" },
  { head: "Value", cell: valueName, kind: "head" },
  { head: "Field", cell: fieldName },
  { head: "Destination", cell: destinationName },
  {
    head: "Why",
    cell: (row) =>
      html`<span class="status ${String(row.status)}">${row.status === "unmapped" ? "unmapped" : "unknown value"}</span>${row.archived === true && html` <span class="tag">archived</span>`}`,
  },
];

/** The values after so many, in the order of the page. */
export function unmappedSql(offset: number): string {
  return `SELECT items, value, custom_field, destination, status FROM mapping_coverage
WHERE status IN (${WITHOUT_EXTERNAL_VALUE_SQL}) AND items > 0
ORDER BY items DESC, destination NULLS LAST, custom_field NULLS LAST, value NULLS LAST, destination_id, custom_field_id, value_id
OFFSET ${offset}`;
}
