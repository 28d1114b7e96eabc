/** Coverage as a table of fields by destinations, whose cells are the more coloured the more is missing. */
import { without } from "../../audit/mapping/value-counts.ts";
import type { Coverage } from "../../audit/questions/coverage.ts";
import { count, counted, percent } from "../../common/figures.ts";
import { foreign, html, type Markup } from "./markup.ts";

type Covered = Coverage["coverage"][number];

/** What a share does not say of the values, with the mark that a cell has of it. */
const FLAWS = [
  { of: ({ ambiguous }: Covered) => ambiguous, mark: "†", word: "ambiguous" },
  {
    of: ({ collision }: Covered) => collision,
    mark: "‡",
    word: "under a name that several fields have",
  },
] as const;

/** Steps of the colour: 0 is all covered, the last one nothing. */
const STEPS = [
  { least: 1, label: "100%" },
  { least: 0.95, label: "95% to 99.9%" },
  { least: 0.8, label: "80% to 94.9%" },
  { least: 0.5, label: "50% to 79.9%" },
  { least: Number.MIN_VALUE, label: "under 50%" },
  { least: 0, label: "none" },
] as const;

const FIELDS_LIMIT = 60;
const DESTINATIONS_LIMIT = 12;

/** `notCovered`: what becomes of the values of fields without value mappings, in two words. */
export function coverageMatrix(rows: readonly Covered[], notCovered: string): Markup {
  const fields = sideOf(rows, ({ custom_field_id: id, custom_field: name }) => ({ id, name }), FIELDS_LIMIT);
  const destinations = sideOf(
    rows,
    ({ destination_id: id, destination: name }) => ({ id, name }),
    DESTINATIONS_LIMIT,
  );
  const known = new Map(rows.map((row) => [JSON.stringify([row.custom_field_id, row.destination_id]), row]));
  const leftOut = [
    fields.leftOut > 0 && counted(fields.leftOut, "field"),
    destinations.leftOut > 0 && counted(destinations.leftOut, "destination"),
  ].filter((each) => each !== false);
  const lines = fields.shown.map((field) => {
    const cells = destinations.shown.map((destination) =>
      cellOf(known.get(JSON.stringify([field.id, destination.id])), notCovered),
    );
    return html`<tr><th scope="row">${foreign(field.text)}</th>${cells}</tr>\n`;
  });
  return html`<table class="matrix">
<caption class="visually-hidden">Share of values that are mapped, by field and destination</caption>
<thead><tr><th scope="col">field</th>${destinations.shown.map(({ text }) => html`<th scope="col">${foreign(text)}</th>`)}</tr></thead>
<tbody>${lines}</tbody>
</table>
<ul class="legend">${STEPS.map(({ label }, step) => html`<li><span class="swatch heat-${step}"></span>${label}</li>`)}<li><span class="swatch heat-unmappable"></span>${notCovered} (no value mapping)</li><li><span class="swatch heat-none"></span>not mapped, or no values</li>${FLAWS.map(({ mark, word }) => html`<li><span class="flaws">${mark}</span> some ${word}</li>`)}</ul>
${leftOut.length > 0 && html`<p class="note">Left out here: ${leftOut.join(" and ")} with fewer values without an external value; the table below has them.</p>`}
`;
}

interface Named {
  readonly id: string | null;
  readonly name: string | null;
}

/** Where there are too many, those with most values without an external value stay; those shown are ordered by name. */
function sideOf(rows: readonly Covered[], of: (row: Covered) => Named, limit: number) {
  const found = new Map<string, { id: string | null; text: string; missing: number }>();
  for (const row of rows) {
    const { id, name } = of(row);
    const known = found.get(id ?? "") ?? { id, text: name ?? id ?? "", missing: 0 };
    found.set(id ?? "", { ...known, missing: known.missing + without(row) });
  }
  const shown = [...found.values()].sort((a, b) => b.missing - a.missing).slice(0, limit);
  shown.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : (a.id ?? "") < (b.id ?? "") ? -1 : 1));
  return { shown, leftOut: found.size - shown.length };
}

function cellOf(row: Covered | undefined, notCovered: string): Markup {
  if (row === undefined) return html`<td class="heat-none blank" title="not mapped">–</td>`;
  const { mapped, values, items } = row;
  const possible = mapped + without(row);
  if (possible > 0) {
    const step = STEPS.findIndex(({ least }) => mapped / possible >= least);
    const flaws = FLAWS.filter(({ of }) => of(row) > 0);
    const told = flaws.map(({ of, word }) => `, ${count(of(row))} ${word}`).join("");
    const title = `${count(mapped)} of ${counted(possible, "value")} mapped, in ${counted(items, "item")}${told}`;
    const marks =
      flaws.length > 0 &&
      html`<span class="flaws" aria-hidden="true">${flaws.map(({ mark }) => mark)}</span><span class="visually-hidden">${told}</span>`;
    return html`<td class="heat-${step}" title="${title}">${percent(mapped, possible)}${marks}</td>`;
  }
  if (values === 0) return html`<td class="heat-none" title="mapped, but no item has a value">no values</td>`;
  return html`<td class="heat-unmappable" title="${counted(values, "value")}, ${notCovered}">${notCovered}</td>`;
}
