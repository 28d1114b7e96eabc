/** Coverage as a heat map of fields by destinations, and the values that no destination gets. */

import { count, counted } from "../../common/figures.ts";
import type { Row } from "../../storage/duckdb.ts";
import { sentOrNot, withoutValueMapping } from "../mapping/passthrough.ts";
import type { Coverage } from "../questions/coverage.ts";
import { HEAT_STEPS, type HeatCell, heatMap, heatStep } from "./charts.ts";
import { capitalized, integer, percent, text, textOrNull } from "./format.ts";
import { type Column, foreign, html, type Markup, named, plainForeign, sql, table } from "./markup.ts";
import { coverageTotals, nothingCoverable, valueName } from "./overview.ts";

/** Fields and destinations of the heat map, and rows of the tables; there are rarely more. */
const FIELDS_SHOWN = 60;
const DESTINATIONS_SHOWN = 12;
const ROWS_SHOWN = 500;
const VALUES_SHOWN = 100;

export function coverageSection({ coverage, passthrough }: Coverage): Markup {
  const shown = coverage.slice(0, ROWS_SHOWN);
  return html`<section id="coverage" aria-labelledby="coverage-title">
<h2 id="coverage-title">Coverage</h2>
${
  coverage.length === 0
    ? html`<p class="empty">No custom field is mapped for a destination, so there is nothing to cover.</p>`
    : html`<p class="lead">The share of each field’s values that are mapped at each destination. The stronger the colour, the more is missing.</p>
${chart(coverage, passthrough)}
<details><summary>The figures as a table</summary>
${table({ caption: "Coverage per field and destination, in values", columns: columns(passthrough), rows: shown })}
${coverage.length > shown.length && html`<p class="note">${counted(coverage.length - shown.length, "more row")}: <code>content-warehouse audit --section coverage --format csv</code> has all.</p>`}
</details>`
}
</section>`;
}

/** `passthrough`: what becomes of the values of fields without value mappings. */
const columns = (passthrough: boolean): Column<Row>[] => [
  { head: "Field", cell: (row: Row) => fieldName(row), kind: "head" },
  { head: "Destination", cell: (row: Row) => destinationName(row) },
  { head: "External name", cell: (row: Row) => foreign(textOrNull(row.external_field_name) ?? "") },
  {
    head: "Covered",
    cell: (row: Row) => share(row) ?? (integer(row.values) === 0 ? "no values" : sentOrNot(passthrough)),
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

function fieldName(row: Row): Markup {
  return named(textOrNull(row.custom_field), text(row.custom_field_id));
}

function destinationName(row: Row): Markup {
  return named(textOrNull(row.destination), text(row.destination_id));
}

function coverable(row: Row): number {
  return integer(row.mapped) + integer(row.unmapped) + integer(row.unknown_value);
}

function share(row: Row): string | null {
  return percent(integer(row.mapped), coverable(row));
}

/** Fields with the largest gaps stay where there are too many; those shown stand in the order of their names. */
function chart(coverage: readonly Row[], passthrough: boolean): Markup {
  const [fields, names] = keysOf(coverage, "custom_field_id", "custom_field", FIELDS_SHOWN);
  const [destinations, destinationNames] = keysOf(
    coverage,
    "destination_id",
    "destination",
    DESTINATIONS_SHOWN,
  );
  const pair = (row: Row) => `custom_field_id ${row.custom_field_id} destination_id ${row.destination_id}`;
  const known = new Map(coverage.map((row) => [pair(row), row]));
  const cells = fields.flatMap((field) =>
    destinations.map((destination) =>
      heatCell(known.get(`${field} ${destination}`), { row: field, column: destination }, passthrough),
    ),
  );
  const leftOut = [
    leftOutOf(coverage, "custom_field_id", fields.length, "field"),
    leftOutOf(coverage, "destination_id", destinations.length, "destination"),
  ].filter((each) => each !== undefined);
  const all = new Map([...names, ...destinationNames]);
  return html`<figure>
${heatMap({
  title: "coverage",
  rows: fields,
  columns: destinations,
  cells,
  nameOf: (key) => all.get(key) ?? key,
  description: description(fields.length, destinations.length, coverage),
})}
<figcaption><ul class="legend">${HEAT_STEPS.map(({ label }, step) => html`<li><span class="swatch heat-${step}"></span>${label}</li>`)}<li><span class="swatch heat-unmappable"></span>${withoutValueMapping(passthrough)}</li><li><span class="swatch heat-none"></span>not mapped, or no values</li></ul>
${leftOut.length > 0 && html`<p class="note">The chart leaves out ${leftOut.join(" and ")} with fewer gaps; the table has them.</p>`}
</figcaption></figure>`;
}

function leftOutOf(coverage: readonly Row[], key: string, shown: number, what: string): string | undefined {
  const all = new Set(coverage.map((row) => row[key])).size;
  return all > shown ? counted(all - shown, what) : undefined;
}

/** The keys to show, ordered by their names, and the names. */
function keysOf(
  coverage: readonly Row[],
  id: "custom_field_id" | "destination_id",
  name: "custom_field" | "destination",
  most: number,
): [string[], Map<string, string>] {
  const prefixed = (row: Row) => `${id} ${row[id]}`;
  const gaps = new Map<string, number>();
  const names = new Map<string, string>();
  for (const row of coverage) {
    const key = prefixed(row);
    gaps.set(key, (gaps.get(key) ?? 0) + integer(row.unmapped) + integer(row.unknown_value));
    names.set(key, plainForeign(textOrNull(row[name]) ?? text(row[id])));
  }
  const worst = [...gaps].sort(([, a], [, b]) => b - a).slice(0, most);
  const order = (key: string) => names.get(key) ?? "";
  const keys = worst.map(([key]) => key);
  keys.sort((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : a < b ? -1 : 1));
  return [keys, names];
}

function heatCell(
  cell: Row | undefined,
  at: Pick<HeatCell, "row" | "column">,
  passthrough: boolean,
): HeatCell {
  if (cell === undefined) return { ...at, step: "none", label: "–", title: "not mapped" };
  const [possible, values, mapped] = [coverable(cell), integer(cell.values), integer(cell.mapped)];
  if (possible > 0) {
    const title = `${count(mapped)} of ${counted(possible, "value")} mapped, in ${counted(integer(cell.items), "item")}`;
    return { ...at, step: heatStep(mapped / possible), label: share(cell) ?? "", title };
  }
  if (values === 0)
    return { ...at, step: "none", label: "no values", title: "mapped, but no item has a value" };
  const title = `${counted(values, "value")}, ${withoutValueMapping(passthrough)}`;
  return { ...at, step: "unmappable", label: sentOrNot(passthrough), title };
}

function description(fields: number, destinations: number, coverage: readonly Row[]): string {
  const rows = coverage.filter((row) => coverable(row) > 0);
  const whole = rows.filter((row) => coverable(row) === integer(row.mapped)).length;
  return `Heat map of ${counted(fields, "field")} by ${counted(destinations, "destination")}: ${count(whole)} of ${count(rows.length)} pairs with value mappings are covered whole. The table below has the figures.`;
}

export function unmappedSection(coverage: Coverage): Markup {
  const { values } = coverage;
  const gaps = values.filter((row) => row.status === "unmapped" || row.status === "unknown_value");
  const shown = gaps.slice(0, VALUES_SHOWN);
  return html`<section id="unmapped" aria-labelledby="unmapped-title">
<h2 id="unmapped-title">Values without an external value</h2>
${
  gaps.length === 0
    ? html`<p class="empty">${noGaps(coverage)}</p>`
    : html`<p class="lead">The value that touches most items first.${gaps.length > shown.length && ` These are the first ${count(shown.length)} of ${count(gaps.length)}.`}</p>
${table({
  caption: "Values without an external value, by the items that have them",
  columns: VALUE_COLUMNS,
  rows: shown,
})}
${gaps.length > shown.length && html`<p class="note">The other ${count(gaps.length - shown.length)}, in SQL:</p>${sql(unmappedSql(shown.length))}`}`
}
</section>`;
}

function noGaps(coverage: Coverage): string {
  return coverageTotals(coverage).coverable === 0
    ? `There is no value to look at: ${nothingCoverable(coverage)}.`
    : "Every value in use of a field with a value mapping is mapped at every destination that its field is mapped for.";
}

const VALUE_COLUMNS: readonly Column<Row>[] = [
  { head: "Items", cell: scalar("items"), kind: "number" },
  { head: "Value", cell: (row: Row) => valueName(row.value, row.value_id), kind: "head" },
  { head: "Field", cell: fieldName },
  { head: "Destination", cell: destinationName },
  {
    head: "Why",
    cell: (row: Row) =>
      html`<span class="status ${text(row.status)}">${row.status === "unmapped" ? "unmapped" : "unknown value"}</span>${row.archived === true && html` <span class="tag">archived</span>`}`,
  },
];

/** The values after so many, in the order of the page. */
export function unmappedSql(offset: number): string {
  return `SELECT items, value, custom_field, destination, status FROM mapping_coverage
WHERE status IN ('unmapped', 'unknown_value') AND items > 0
ORDER BY items DESC, destination NULLS LAST, custom_field NULLS LAST, value NULLS LAST, destination_id, custom_field_id, value_id
OFFSET ${offset}`;
}
