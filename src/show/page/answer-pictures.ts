/** Pictures of answers: coverage, causes of changes, and the runs. Texts of the service are cut, and tables have them whole. */
import { type MappedCounts, receivingDestinations } from "../../audit/mapping/value-counts.ts";
import type { Coverage } from "../../audit/questions/coverage.ts";
import type { RunRow } from "../../audit/questions/run-history.ts";
import type { RunShare } from "../../audit/questions/run-shares.ts";
import type { EarlierRuns } from "../../audit/questions/runs.ts";
import { count, pluralize } from "../../common/figures.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { cut, foreign, html, type Markup } from "./page.ts";
import { type BarRow, barTable, type RunPoint, runColumns, runLine } from "./pictures.ts";

/** `93.4%`; only all is 100% and only none is 0%. `whole` is not 0. */
export function percent(part: number, whole: number): string {
  if (part === whole) return "100%";
  if (part === 0) return "0%";
  const share = Math.min(99.9, Math.max(0.1, (part / whole) * 100));
  return `${share.toFixed(1)}%`;
}

/** Destinations of a picture, fields of each, and values; tables have the others. */
const MOST = { destinations: 12, fields: 12, values: 12 } as const;

type FieldCoverage = Coverage["coverage"][number];

function partsOf(rows: readonly FieldCoverage[], passthrough: boolean) {
  const sum = (kind: "mapped" | "unmapped" | "unknown_value" | "no_value_mapping") =>
    rows.reduce((total, row) => total + row[kind], 0);
  const asTexts = sum("no_value_mapping");
  return {
    mapped: sum("mapped") + (passthrough ? asTexts : 0),
    missing: sum("unmapped") + sum("unknown_value"),
    unsent: passthrough ? 0 : asTexts,
  };
}

/** Mapped, missing and unsent values of each destination, and of its fields: those that miss most first. */
export function coveragePicture({ coverage, passthrough }: Coverage): Markup | undefined {
  const row = (label: Markup, rows: readonly FieldCoverage[], isTotal = false): BarRow => {
    const parts = partsOf(rows, passthrough);
    return { label, parts, cells: [parts.mapped, parts.missing, parts.unsent].map(count), isTotal };
  };
  const groups = [...Map.groupBy(receivingDestinations(coverage), (each) => each.destination_id).values()];
  const rows = groups.slice(0, MOST.destinations).flatMap((fields) => {
    const missing = (field: FieldCoverage) => field.unmapped + field.unknown_value;
    const sorted = fields.toSorted((a, b) => missing(b) - missing(a) || b.values - a.values);
    const others = sorted.slice(MOST.fields);
    const [first] = fields;
    return [
      row(foreign(cut(first?.destination ?? first?.destination_id ?? "")), fields, true),
      ...sorted
        .slice(0, MOST.fields)
        .map((each) => row(foreign(cut(each.custom_field ?? each.custom_field_id)), [each])),
      ...(others.length > 0 ? [row(html`${pluralize(others.length, "more field")}`, others)] : []),
    ];
  });
  if (rows.length === 0) return undefined;
  const more = groups.length - MOST.destinations;
  return html`${LEGEND}${barTable("Values by destination and field", ["field", "values", "mapped", "missing", "not sent"], rows)}
${more > 0 && html`<p class="note">${pluralize(more, "more destination")} below.</p>`}`;
}

const LEGEND = html`<ul class="legend" aria-hidden="true"><li class="mapped">mapped</li><li class="missing">missing: no external value</li><li class="unsent">not sent: the field has no value mappings</li></ul>\n`;

const MISSES = { unmapped: "no entry", unknown_value: "not in the field’s list" } as const;

/** The values that most items miss, of `values`: those without an external value. */
export function missesPicture(values: Coverage["values"]): Markup | "" {
  const first = receivingDestinations(values).slice(0, MOST.values);
  const rows = first.map((each) => {
    const value = cut(each.value ?? each.value_id ?? "without text");
    const where = `${cut(each.custom_field ?? each.custom_field_id)} at ${cut(each.destination ?? each.destination_id)}`;
    const why = each.status === "unknown_value" ? MISSES.unknown_value : MISSES.unmapped;
    return {
      label: html`${foreign(value)} <span class="note">${foreign(where)}, ${why}</span>`,
      parts: { missing: each.items },
      cells: [count(each.items)],
    };
  });
  if (rows.length === 0) return "";
  const title = "Values that most items miss";
  return html`<h4>${title}</h4>\n${barTable(title, ["value", "share", "items"], rows, ["", "items"])}\n`;
}

/** Items by cause of the change of their values. */
export function causesPicture(
  causes: readonly { readonly cause: string; readonly items: number; readonly lost: number }[],
): Markup | undefined {
  if (causes.length === 0) return undefined;
  const rows = causes.map(({ cause, items, lost }) => ({
    label: cause.replaceAll("_", " "),
    parts: { mapped: items },
    cells: [items, lost].map(count),
  }));
  return barTable("Changes by cause", ["cause", "share", "items", "values lost"], rows, ["items"]);
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
    const points = runs.flatMap((each): RunPoint[] => {
      const value = each[kind];
      return value === null ? [] : [{ sequence: each.sequence, value }];
    });
    const last = points.at(-1);
    if (last?.sequence !== sequence) return "";
    return html`<li><a href="#changes-content"><strong>${count(last.value)}</strong> ${kind}</a>${runColumns(`Items ${kind}`, points)}</li>\n`;
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
