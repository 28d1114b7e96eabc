/** A change of a mapped value in words. What comes from the service stands in quotes, made printable. */
import { col, type RowOf } from "../../common/answer.ts";
import { count } from "../../common/figures.ts";
import { printableLine } from "../../common/printable.ts";

/** A change, of a value of an item or of all items that changed alike. Flags and causes are words with blanks between. */
export const CHANGE = {
  change: col.text({ required: true, of: ["gained", "lost", "changed", "reordered", "alike"], hidden: true }),
  value_id_before: col.text({ hidden: true }),
  value_id_after: col.text({ hidden: true }),
  value_before: col.text({ hidden: true }),
  value_after: col.text({ hidden: true }),
  name_before: col.text({ hidden: true }),
  name_after: col.text({ hidden: true }),
  external_value_before: col.text({ hidden: true }),
  external_value_after: col.text({ hidden: true }),
  /** Null on both sides: it is true of the values of a field whatever they are. */
  status_before: col.text({ hidden: true }),
  status_after: col.text({ hidden: true }),
  flags_before: col.text({ hidden: true }),
  flags_after: col.text({ hidden: true }),
  mapping_id_before: col.text({ hidden: true }),
  mapping_id_after: col.text({ hidden: true }),
  mapping_value_id_before: col.text({ hidden: true }),
  mapping_value_id_after: col.text({ hidden: true }),
  copies_before: col.count({ hidden: true }),
  copies_after: col.count({ hidden: true }),
  /** Number of the run that definitions are compared from; null: the earlier of the two runs. */
  definitions_from: col.count({ hidden: true }),
} as const;
export type Change = RowOf<typeof CHANGE>;

function quoted(value: string | null): string {
  return value === null ? "nothing" : `"${printableLine(value)}"`;
}

/** `"Nordics" sends "north" instead of "nordic"`. */
export function changeWords(row: Change): string {
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
      return row.external_value_before === null
        ? "the values stand in another order"
        : `${printableLine(row.external_value_before)} -> ${printableLine(row.external_value_after ?? "")}`;
    default: {
      if (row.status_before === null) return `${what} was added, and sends nothing${states}`;
      if (row.status_after === null) return `${what} was removed, and sent nothing${states}`;
      const sent = row.external_value_after === null ? "sends nothing" : `sends ${sentText(row, "after")}`;
      return `${what} ${sent}, as before${states}`;
    }
  }
}

/** The same in parts: which value it is of, null where it is of the field whatever its values are, and what either side is. */
export function changeParts(row: Change): Readonly<Record<"value", string | null>> & Record<Side, string> {
  if (row.change === "reordered") {
    const order = (side: Side) => printableLine(row[`external_value_${side}`] ?? "");
    const isKnown = row.external_value_before !== null;
    return { value: null, before: order("before"), after: isKnown ? order("after") : "another order" };
  }
  if (row.status_before === null && row.status_after === null)
    return { value: null, before: fieldText(row, "before"), after: fieldText(row, "after") };
  return { value: valueWords(row), before: valueText(row, "before"), after: valueText(row, "after") };
}

/** Of a field's values whatever they are: the external name, and what else is true of them. */
function fieldText(row: Change, side: Side): string {
  const isRenamed = row.name_before !== row.name_after;
  const name = row[`name_${side}`];
  const flags = wordsIn(row[`flags_${side}`]).map((flag) => FLAG_WORDS[flag] ?? flag);
  return [...(isRenamed ? [name === null ? "no name" : `as ${quoted(name)}`] : []), ...flags].join(", ");
}

/** What is sent of a value, with what is another on the other side: its external name, how often, its status. */
function valueText(row: Change, side: Side): string {
  const isRenamed = row.name_before !== row.name_after;
  const sent = sentText(row, side);
  const copies = row[`copies_${side}`];
  const [state, other] = side === "before" ? statesOf(row) : statesOf(row).toReversed();
  return [
    copies === 0 ? "nothing" : sent,
    isRenamed && row[`external_value_${side}`] !== null ? asName(row, side) : "",
    copies !== null && copies > 0 ? ` ${times(copies)}` : "",
    state !== undefined && state !== other && state !== "mapped" ? ` [${state}]` : "",
  ].join("");
}

type Side = "before" | "after";

/** Under which external name; a value that was removed is told with the one that it had. */
function asName(row: Change, side: Side): string {
  const name = row[`name_${side}`];
  return name === null ? "" : ` as ${quoted(name)}`;
}

/**
 * What a further copy of a value sends, or one that is gone; undefined where the item does not give the value on both
 * sides.
 */
function copiesWords(row: Change, what: string): string | undefined {
  const { copies_before, copies_after } = row;
  if (copies_before === null || copies_after === null) return undefined;
  if (row.change === "alike")
    return `${what} sends nothing, as before, ${times(copies_after)} instead of ${times(copies_before)}`;
  const sent = sentText(row, row.change === "gained" ? "after" : "before");
  if (copies_after === 0) return `${what} no longer sends ${sent}${asName(row, "before")}`;
  const then = copies_before === 0 ? "did not before" : `sent it ${times(copies_before)}`;
  return `${what} sends ${sent} ${times(copies_after)}, and ${then}`;
}

function times(copies: number): string {
  return ["not at all", "once", "twice"][copies] ?? `${count(copies)} times`;
}

/** What is true of the values of a field whatever they are. */
function fieldWords(row: Change): string {
  const renamed = row.name_before !== row.name_after;
  const words = (flags: string | null) => wordsIn(flags).map((flag) => FLAG_WORDS[flag] ?? flag);
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
  collision: "under a name shared by several fields",
};

function sentText(row: Change, side: Side): string {
  const text = row[`external_value_${side}`];
  return text === null && row[`status_${side}`] === "no_value_mapping" ? "its text" : quoted(text);
}

/** The internal value; where another took its place, both. */
function valueWords(row: Change): string {
  const side = (name: Side) => {
    const value = row[`value_${name}`] ?? row[`value_id_${name}`] ?? null;
    if (row[`status_${name}`] === null) return undefined;
    return value === null ? "a value" : quoted(value);
  };
  const [before, after] = [side("before"), side("after")];
  if (before === undefined || after === undefined || before === after) return after ?? before ?? "a value";
  return `${before} -> ${after}`;
}

/** Status and flags, as far as they are not as they were. */
function stateWords(row: Change): string {
  const [before, after] = statesOf(row);
  if (before === after) return "";
  if (before === undefined) return after === "mapped" ? "" : ` [${after}]`;
  if (after === undefined) return before === "mapped" ? "" : ` [${before}]`;
  return ` [${before} -> ${after}]`;
}

function statesOf(row: Change): readonly [before: string | undefined, after: string | undefined] {
  const state = (side: Side) => {
    const status = row[`status_${side}`];
    return status === null ? undefined : [status, ...wordsIn(row[`flags_${side}`])].join(", ");
  };
  return [state("before"), state("after")];
}

/** Words of a text with blanks between them. */
export function wordsIn(text: string | null): string[] {
  return text === null || text === "" ? [] : text.split(" ");
}
