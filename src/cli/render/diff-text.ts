/** What changed between two runs, for a screen: totals per cause, then what became of what, a line however many items. */
import { type Diff, whyOf } from "../../audit/questions/diff.ts";
import type { RunPair } from "../../audit/questions/diff-runs.ts";
import { count, counted } from "../../common/figures.ts";
import { listed } from "../../common/nearest.ts";
import { paragraph, printableLine } from "../../show/terminal.ts";
import type { Row } from "../../storage/duckdb.ts";
import { type Section, sectionTables } from "./sections.ts";

const COUNTS = "items values gained lost changed reordered alike";

export function diffSections({ causes, groups }: Diff): [causes: Section, groups: Section] {
  return [
    {
      key: "causes",
      title: "Changes by cause",
      shown: `causes ${COUNTS}`,
      rows: causes.map(shownCauses),
      whole: "causes",
      optional: "reordered items",
      limit: 100,
    },
    {
      key: "groups",
      title: "Changes by cause, destination and field",
      shown: `causes destination custom_field ${COUNTS}`,
      rows: groups.map(shownCauses),
      keys: 3,
      limit: 100,
    },
  ];
}

/** Causes as people read them; where they cannot be told, that is said. */
function shownCauses(row: Row): Row {
  return { ...row, causes: causesText(row.causes) };
}

export function causesText(causes: Row[string] | undefined): string {
  return typeof causes === "string" ? causes.split(" ").join(", ") : "not known";
}

/** What was compared, and how far it can be relied on. */
export function headline(
  { before, after, basis }: RunPair,
  { sendsOtherwise }: Pick<Diff, "sendsOtherwise">,
): string {
  const by =
    basis === undefined
      ? "their own ledgers: no history knows both, so that causes cannot be told"
      : `the history of run ${basis}`;
  const unsettled = [before, after].filter(({ verdict }) => verdict === "unsettled").map(({ run }) => run);
  const are = unsettled.length === 1 ? `Run ${unsettled[0]} is` : `${listed(unsettled, "and")} are`;
  const unseen = basis === undefined ? "is missing in its ledger" : "counts as it was";
  const sentences = [
    `From run ${before.run} to run ${after.run}, by ${by}.`,
    unsettled.length > 0 && `${are} unsettled: what it did not see ${unseen}.`,
    sendsOtherwise &&
      "Their pipelines differ in sending values of fields without value mappings as they are; that alone is no change here.",
  ];
  return sentences.filter((sentence) => sentence !== false).join(" ");
}

export interface Group {
  readonly row: Row;
  /** Rows of `audit_diff_lines`, those with most items first; the first ones, where there are many. */
  readonly lines: readonly Row[];
  readonly more: number;
}

/** The lines of each group under its cause, destination and field; `limit`: groups of a cause. */
export function diffText(
  diff: Diff,
  groups: readonly Group[],
  { width, limit }: { readonly width: number | undefined; readonly limit: number },
): string {
  const [totals] = diffSections(diff);
  const parts = [sectionTables([totals], width)];
  for (const cause of diff.causes) {
    const own = groups.filter(({ row }) => row.causes === cause.causes);
    const head = `${causesText(cause.causes)}: ${counted(Number(cause.values), "value")} of ${counted(Number(cause.items), "item")}`;
    const more = own.length - limit;
    parts.push(
      `\n${paragraph("", head, width)}`,
      ...own.slice(0, limit).map((group) => groupText(diff, group, width)),
      more > 0 ? paragraph("  ", `and ${counted(more, "more field")}; --limit shows more`, width) : "",
    );
  }
  return parts.join("");
}

function groupText(diff: Diff, { row, lines, more }: Group, width: number | undefined): string {
  const head = paragraph("  ", `${placeText(row)}: ${counted(Number(row.values), "value")}`, width);
  const widest = Math.max(...lines.map((line) => count(Number(line.items)).length));
  const units = lines.every((line) => Number(line.items) === 1) ? "item:" : "items:";
  const shown = lines.map((line) => {
    const items = Number(line.items);
    const lead = `    ${count(items).padStart(widest)} ${(items === 1 ? "item:" : units).padEnd(units.length)} `;
    const why = whyOf(diff, line).map(printableLine);
    return paragraph(lead, `${changeWords(line)}${why.length === 0 ? "" : ` (${why.join("; ")})`}`, width);
  });
  const rest =
    more > 0 ? paragraph("    ", `and ${counted(more, "more line")}; --limit shows more`, width) : "";
  return `${head}${shown.join("")}${rest}`;
}

/** The changed values of items, below each item's title; the rows of an item follow each other. */
export function itemsText(rows: readonly Row[], width: number | undefined): string {
  const items = Map.groupBy(rows, ({ content_id }) => content_id);
  const texts = [...items.values()].map((own) => {
    const { content_id, title } = own[0] ?? {};
    const head = typeof title === "string" ? `${bare(content_id)} ${bare(title)}` : bare(content_id);
    const lines = own.map((row) => {
      const words = `${placeText(row)}: ${changeWords(row)} (${causesText(row.causes)})`;
      return paragraph("    ", words, width);
    });
    return paragraph("  ", head, width) + lines.join("");
  });
  return `Items\n${texts.join("")}`;
}

function placeText({ destination, destination_id, custom_field, custom_field_id }: Row): string {
  return `${bare(custom_field ?? custom_field_id)} at ${bare(destination ?? destination_id)}`;
}

function bare(value: Row[string] | undefined): string {
  return printableLine(String(value));
}

function quoted(value: Row[string] | undefined): string {
  return value === null || value === undefined ? "nothing" : `"${bare(value)}"`;
}

/** `"Nordics" sends "north" instead of "nordic"`. */
export function changeWords(row: Row): string {
  if (row.status_before === null && row.status_after === null && row.change !== "reordered")
    return fieldWords(row);
  const what = valueWords(row);
  const states = stateWords(row);
  const renamed = row.name_before !== row.name_after;
  const copies = copiesWords(row, what);
  if (copies !== undefined) return copies + states;
  switch (row.change) {
    case "gained":
      return `${what} sends ${sentText(row, "after")}${asName(row, "after")}, and sent nothing${states}`;
    case "lost":
      return `${what} no longer sends ${sentText(row, "before")}${asName(row, "before")}${states}`;
    case "changed": {
      const sent = (side: Side) =>
        `${sentText(row, side)}${renamed ? ` as ${quoted(row[`name_${side}`])}` : ""}`;
      return `${what}: ${sent("before")} -> ${sent("after")}${states}`;
    }
    case "reordered":
      return row.external_value_before === null || row.external_value_before === undefined
        ? "the values stand in another order"
        : `${bare(row.external_value_before)} -> ${bare(row.external_value_after)}`;
    default: {
      if (row.status_before === null) return `${what} was added, and sends nothing${states}`;
      if (row.status_after === null) return `${what} was removed, and sent nothing${states}`;
      const sent = row.external_value_after === null ? "sends nothing" : `sends ${sentText(row, "after")}`;
      return `${what} ${sent}, as before${states}`;
    }
  }
}

type Side = "before" | "after";

/** Under which external name; a value that was removed is told with the one that it had. */
function asName(row: Row, side: Side): string {
  const name = row[`name_${side}`];
  return typeof name === "string" ? ` as ${quoted(name)}` : "";
}

/**
 * What a further copy of a value sends, or one that is gone; undefined where the item does not give the value on both
 * sides.
 */
function copiesWords(row: Row, what: string): string | undefined {
  const { copies_before, copies_after } = row;
  if (typeof copies_before !== "bigint" || typeof copies_after !== "bigint") return undefined;
  const [before, after] = [Number(copies_before), Number(copies_after)];
  if (row.change === "alike")
    return `${what} sends nothing, as before, ${times(after)} instead of ${times(before)}`;
  const sent = sentText(row, row.change === "gained" ? "after" : "before");
  if (after === 0) return `${what} no longer sends ${sent}${asName(row, "before")}`;
  return `${what} sends ${sent} ${times(after)}, and ${before === 0 ? "did not before" : `sent it ${times(before)}`}`;
}

function times(copies: number): string {
  return ["not at all", "once", "twice"][copies] ?? `${count(copies)} times`;
}

/** What is true of the values of a field whatever they are. */
function fieldWords(row: Row): string {
  const renamed = row.name_before !== row.name_after;
  const words = (flags: Row[string] | undefined) =>
    typeof flags === "string" && flags !== "" ? flags.split(" ").map((flag) => FLAG_WORDS[flag] ?? flag) : [];
  const flags = [
    ...words(row.flags_before).map((word) => `no longer ${word}`),
    ...words(row.flags_after).map((word) => `now ${word}`),
  ];
  const names = `${quoted(row.name_before)} -> ${quoted(row.name_after)}`;
  const name = row.change === "alike" ? `nothing is sent, as before, the name ${names}` : `sent as ${names}`;
  const parts = [...(renamed ? [name] : ["the same is sent"]), ...flags];
  return parts.join(", ");
}

const FLAG_WORDS: Readonly<Record<string, string>> = {
  destination_unsupported: "at a destination without support for mappings",
  collision: "under a name that several fields have",
};

function sentText(row: Row, side: Side): string {
  const text = row[`external_value_${side}`];
  return text === null && row[`status_${side}`] === "no_value_mapping" ? "its text" : quoted(text);
}

/** The internal value; where another took its place, both. */
function valueWords(row: Row): string {
  const side = (name: Side) => {
    const value = row[`value_${name}`] ?? row[`value_id_${name}`] ?? null;
    if (row[`status_${name}`] === null) return undefined;
    return value === null ? "a value" : `"${bare(value)}"`;
  };
  const [before, after] = [side("before"), side("after")];
  if (before === undefined || after === undefined || before === after) return after ?? before ?? "a value";
  return `${before} -> ${after}`;
}

/** Status and flags, as far as they are not as they were. */
function stateWords(row: Row): string {
  const state = (side: Side) => {
    const status = row[`status_${side}`];
    if (typeof status !== "string") return undefined;
    const flags = row[`flags_${side}`];
    return typeof flags === "string" && flags !== "" ? `${status}, ${flags.split(" ").join(", ")}` : status;
  };
  const [before, after] = [state("before"), state("after")];
  if (before === after) return "";
  if (before === undefined) return after === "mapped" ? "" : ` [${after}]`;
  if (after === undefined) return before === "mapped" ? "" : ` [${before}]`;
  return ` [${before} -> ${after}]`;
}
