/** Pictures of answers: coverage, causes of changes, and the runs. Texts of the service are cut, and tables have them whole. */
import { WITHOUT_EXTERNAL_VALUE } from "../../audit/mapped-value.ts";
import { type MappedCounts, missingIn, receivingDestinations } from "../../audit/mapping/value-counts.ts";
import type { Coverage } from "../../audit/questions/coverage.ts";
import type { RunRow, RunShare } from "../../audit/questions/run-history.ts";
import type { EarlierRuns } from "../../audit/questions/runs.ts";
import { count, pluralize } from "../../common/figures.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { cut, foreign, html, type Markup } from "./page.ts";
import { type BarRow, bar, barTable, type RunPoint, runColumns, runLine } from "./pictures.ts";

/** `93.4%`; only all is 100% and only none is 0%. `whole` is not 0. */
export function percent(part: number, whole: number): string {
  if (part === whole) return "100%";
  if (part === 0) return "0%";
  const share = Math.min(99.9, Math.max(0.1, (part / whole) * 100));
  return `${share.toFixed(1)}%`;
}

/** Rows and figures of a picture; tables have the others. */
const MOST = { fields: 60, values: 12, destinations: 12 } as const;

type FieldCoverage = Coverage["coverage"][number];

function partsOf(rows: readonly FieldCoverage[], passthrough: boolean) {
  const sum = (numberOf: (row: FieldCoverage) => number) =>
    rows.reduce((total, row) => total + numberOf(row), 0);
  const asTexts = sum((row) => row.no_value_mapping);
  return {
    mapped: sum((row) => row.mapped) + (passthrough ? asTexts : 0),
    missing: sum(missingIn),
    unsent: passthrough ? 0 : asTexts,
  };
}

/** Mapped, missing and unsent values of each destination, and of its fields: those that miss most first. */
export function coveragePicture({ coverage, passthrough }: Coverage): Markup | undefined {
  const row = (label: Markup, rows: readonly FieldCoverage[], isTotal = false): BarRow => {
    const parts = partsOf(rows, passthrough);
    return { label, parts, cells: [parts.mapped, parts.missing, parts.unsent].map(count), isTotal };
  };
  const groups = Map.groupBy(receivingDestinations(coverage), (each) => each.destination_id);
  const rows = [...groups].flatMap(([id, fields]) => [
    row(foreign(cut(fields[0]?.destination ?? id)), fields, true),
    ...fields
      .toSorted((a, b) => missingIn(b) - missingIn(a) || b.values - a.values)
      .map((each) => row(foreign(cut(each.custom_field ?? each.custom_field_id)), [each])),
  ]);
  if (rows.length === 0) return undefined;
  const more = rows.length - MOST.fields;
  const heads = ["field", "values", "mapped", "missing", "not sent"];
  return html`${LEGEND}${barTable("Values by destination and field", heads, rows.slice(0, MOST.fields))}
${more > 0 && html`<p class="note">${pluralize(more, "more row")} below.</p>`}`;
}

const LEGEND = html`<p class="legend note" aria-hidden="true">${(
  [
    ["mapped", "mapped"],
    ["missing", "missing: no external value"],
    ["unsent", "not sent: the field has no value mappings"],
  ] as const
).map(([kind, text]) => html`${bar({ [kind]: 1 }, 1, text)}${text}`)}</p>\n`;

/** The values that most items miss. */
export function missesPicture({ values }: Coverage): Markup | "" {
  const missing = receivingDestinations(values).filter(({ kind }) =>
    WITHOUT_EXTERNAL_VALUE.some((each) => each === kind),
  );
  const rows = missing.slice(0, MOST.values).map((each) => {
    const value = cut(each.value ?? each.value_id ?? "without text");
    const where = `${cut(each.custom_field ?? each.custom_field_id)} at ${cut(each.destination ?? each.destination_id)}`;
    return {
      label: html`${foreign(value)} <span class="note">${foreign(where)}</span>`,
      parts: { missing: each.items },
      cells: [count(each.items)],
    };
  });
  if (rows.length === 0) return "";
  const title = "Values that most items miss";
  return html`<h4>${title}</h4>\n${barTable(title, ["value", "share", "items"], rows, "items")}\n`;
}

/** Items by cause of the change of their values. */
export function causesPicture(
  causes: readonly { readonly cause: string; readonly items: number; readonly lost: number }[],
): Markup | undefined {
  if (causes.length === 0) return undefined;
  const rows = causes.map(({ cause, items, lost }) => ({
    label: cause,
    parts: { mapped: items },
    cells: [items, lost].map(count),
  }));
  return barTable("Items by cause", ["cause", "share", "items", "values lost"], rows, "items");
}

/** A line of the share that a destination has mapped. */
export function shareLine(shares: readonly RunShare[], id: string, name: string): Markup | "" {
  const points = shares
    .filter((each) => each.destination_id === id && each.mapped + each.missing > 0)
    .map(({ sequence, mapped, missing }) => ({ sequence, value: mapped / (mapped + missing) }));
  return runLine(`Mapped share at ${name}`, points, (share) => percent(share, 1));
}

/** New, edited and removed items of a run, each with a column for every kept run. */
export function contentColumns(
  { sequence }: Pick<RunRow, "sequence">,
  changes: NonNullable<Manifest["changes"]>,
  { listed }: EarlierRuns,
): Markup {
  const runs = [...listed.toReversed(), { sequence, ...changes }];
  const figures = (["new", "edited", "removed"] as const).map((kind) => {
    const known = runs.map((each) => ({ sequence: each.sequence, value: each[kind] }));
    const points = known.filter((point): point is RunPoint => point.value !== null);
    return (
      changes[kind] !== null &&
      html`<li><a href="#changes-content"><strong>${count(changes[kind])}</strong> ${kind}</a>${runColumns(`Items ${kind}`, points)}</li>\n`
    );
  });
  return html`<ul class="figures">${figures}</ul>\n`;
}

/** Lines over the runs of the history: missing values, and the mapped share of each destination. */
export function runsPicture(
  shares: readonly RunShare[],
  destinations: MappedCounts["destinations"],
): Markup | undefined {
  const missing = [...Map.groupBy(shares, ({ sequence }) => sequence)]
    .map(([sequence, each]) => ({ sequence, value: each.reduce((sum, { missing }) => sum + missing, 0) }))
    .toSorted((a, b) => a.sequence - b.sequence);
  const [first, last] = [missing.at(0), missing.at(-1)];
  if (first === undefined || last === undefined || missing.length < 2) return undefined;
  const figure = (name: Markup | string, line: Markup | "", told: string) =>
    line !== "" &&
    html`<figure><figcaption>${name} <span class="note">${told}</span></figcaption>${line}</figure>\n`;
  const drawn = receivingDestinations(destinations).slice(0, MOST.destinations);
  return html`<div class="grid">
${figure("Missing values", runLine("Missing values", missing, count), `${count(first.value)} in run ${first.sequence}, ${count(last.value)} now`)}${drawn.map(
  ({ id, name }) => {
    const own = shares.filter((each) => each.destination_id === id && each.mapped + each.missing > 0);
    const [then, now] = [own.at(0), own.at(-1)].map((each) =>
      each === undefined ? "" : percent(each.mapped, each.mapped + each.missing),
    );
    const told = `${then} mapped in run ${own.at(0)?.sequence ?? ""}, ${now} now`;
    return figure(foreign(cut(name ?? id)), shareLine(shares, id, name ?? id), told);
  },
)}</div>\n`;
}
