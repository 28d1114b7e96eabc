/** The texts of a changed value: what a destination gets of it, before and after. */
import { type AnswerRow, col } from "../../common/answer.ts";
import { printableLine } from "../../common/printable.ts";

const optional = col.text();

/** Columns of a change: of one value of one item, or of all items that changed in the same way. */
export const CHANGE = {
  change: col.text({
    required: true,
    of: ["lost", "gained", "added", "taken_away", "changed", "reordered", "alike"],
  }),
  value_id_before: optional,
  value_id_after: optional,
  value_before: optional,
  value_after: optional,
  name_before: optional,
  name_after: optional,
  external_value_before: optional,
  external_value_after: optional,
  /** Both are null if the change applies to a field whatever its values are. */
  status_before: optional,
  status_after: optional,
  flags_before: optional,
  flags_after: optional,
  mapping_id_before: optional,
  mapping_id_after: optional,
  mapping_value_id_before: optional,
  mapping_value_id_after: optional,
} as const;

type Change = AnswerRow<typeof CHANGE>;
type Side = "before" | "after";

/** Words of a text with blanks between them. */
export function wordsIn(text: string | null): string[] {
  return text === null || text === "" ? [] : text.split(" ");
}

function quoted(value: string | null): string {
  return value === null ? "nothing" : `"${printableLine(value)}"`;
}

/** The value that changed (null: the whole field), and its state in both runs. */
export function changeTexts(row: Change): Readonly<Record<"value", string | null>> & Record<Side, string> {
  if (row.change === "reordered") return { value: null, before: "", after: "order changed" };
  if (row.status_before === null && row.status_after === null)
    return { value: null, before: fieldText(row, "before"), after: fieldText(row, "after") };
  return { value: valueWords(row), before: valueText(row, "before"), after: valueText(row, "after") };
}

/** State of a whole field: its external name, if that changed, and its flags. */
function fieldText(row: Change, side: Side): string {
  const isRenamed = row.name_before !== row.name_after;
  const name = row[`name_${side}`];
  const flags = wordsIn(row[`flags_${side}`]);
  return [...(isRenamed ? [name === null ? "no name" : `as ${quoted(name)}`] : []), ...flags].join(", ");
}

/** What is sent of a value, with external name and status if these changed. Empty if the value is absent. */
function valueText(row: Change, side: Side): string {
  const state = stateOf(row, side);
  if (state === undefined) return "";
  const [name, sent] = [row[`name_${side}`], row[`external_value_${side}`]];
  const isText = sent === null && row[`status_${side}`] === "no_value_mapping";
  const isNamed = row.name_before !== row.name_after && sent !== null && name !== null;
  const other = stateOf(row, side === "before" ? "after" : "before");
  const shown = state !== other && state !== "mapped" ? ` [${state}]` : "";
  return `${isText ? "its text" : quoted(sent)}${isNamed ? ` as ${quoted(name)}` : ""}${shown}`;
}

/** The internal value, or both if another took its place. */
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

/** Status and flags; undefined if the value is absent. */
function stateOf(row: Change, side: Side): string | undefined {
  const status = row[`status_${side}`];
  return status === null ? undefined : [status, ...wordsIn(row[`flags_${side}`])].join(", ");
}
