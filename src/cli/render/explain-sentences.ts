/** The sentences of an explanation, a rule's finding each. What comes from the service stands in quotes, made printable. */
import type { FieldDefinition } from "../../audit/mapping/definitions.ts";
import type { EntryStep, InputStep, MappingStep, ReadAs, TypeStep } from "../../audit/mapping/procedure.ts";
import type { Since } from "../../audit/questions/item-history.ts";
import { listed } from "../../common/nearest.ts";
import { paragraph, printableLine, truncate } from "../../show/terminal.ts";
import type { Cause } from "../../tables/history.ts";

export const quoted = (text: string): string => `"${printableLine(text)}"`;
export const bare = (text: string): string => printableLine(text);

/** A paragraph: what stands before its first line, and its text. */
export type Line = readonly [lead: string, text: string];

export const BLANK: Line = ["", ""];

/** Parts with a blank line between them; `width`: of the screen; undefined: lines are as long as they are. */
export function partsText(parts: readonly (readonly Line[])[], width: number | undefined): string {
  const lines = parts.flatMap((part, index) => (index === 0 ? part : [BLANK, ...part]));
  return lines.map(([lead, text]) => paragraph(lead, text, width)).join("");
}

/** What a destination receives: the members of its payload. */
export function payloadLines(
  members: readonly (readonly [name: string, values: readonly string[]])[],
  receives: string,
  nothing: string,
  indent = "",
): Line[] {
  if (members.length === 0) return [[indent, nothing]];
  const lines = members.map(
    ([name, values]): Line => [
      `${" ".repeat(indent.length)}  `,
      `${quotedJson(name)}: ${quotedJson(values)}`,
    ],
  );
  return [[indent, receives], ...lines];
}

/** What of an explanation is told. */
export interface Told {
  readonly run: string;
  /** Of the screen; undefined: none. */
  readonly width: number | undefined;
  /** Undefined: all. */
  readonly destinationIds?: readonly string[] | undefined;
  readonly fieldIds?: readonly string[] | undefined;
}

export function isWanted(ids: readonly string[] | undefined, id: string): boolean {
  return ids?.includes(id) ?? true;
}

/** A field's name, with its ID where that is another. */
export function withId(name: string, id: string): string {
  return name === bare(id) ? name : `${name} (${bare(id)})`;
}

const quotedJson = (value: unknown): string => printableLine(JSON.stringify(value));

export function mappingSentence({ mappingIds, mappingId }: MappingStep, at: string): string {
  const own = `Its mapping for ${at} is ${bare(mappingId ?? "")}.`;
  if (mappingIds.length < 2) return own;
  const others = mappingIds.slice(1).map(bare);
  return `${own} There ${others.length === 1 ? "is a further one" : "are further ones"}, ${listed(others, "and")}; the first counts, and all values are ambiguous.`;
}

export function typeSentence(type: TypeStep | undefined, passthrough: boolean): string {
  const name =
    type?.fieldType === null || type === undefined
      ? "A field of unknown type"
      : `${/^[aeiou]/i.test(type.fieldType) ? "An" : "A"} ${bare(type.fieldType)} field`;
  if (type?.hasValueMappings === true) return `${name} has value mappings: each value is looked up.`;
  return `${name} has no value mappings: its values are ${passthrough ? "sent as they are" : "kept, and not sent"}.`;
}

type Said = (input: string, field: FieldDefinition | undefined, valueId: string | null) => string;

const READ: Readonly<Record<Exclude<ReadAs, "absent">, Said>> = {
  id_in_value_ids: (input, field, valueId) =>
    field?.selectValues.some((each) => each.valueId === valueId) === true
      ? `${input}: the ID of ${shownValue(field, valueId)}.`
      : `${input}: a value ID, as custom_field_value_ids says, and ${shownValue(field, valueId)}.`,
  id_of_select_value: (input, field, valueId) =>
    `${input}: among the values of the field, this is the ID of ${shownValue(field, valueId)}.`,
  id_in_mapping: (input, field, valueId) =>
    `${input}: a value ID, since a mapping of the field has it as one, and ${shownValue(field, valueId)}.`,
  text_of_value: (input, field, valueId) =>
    `${input}: no ID, but the text of the value ${bare(valueId ?? "")}, ${shownValue(field, valueId)}.`,
  text_of_display: (input, field, valueId) =>
    `${input}: no ID, but what people are shown for the value ${bare(valueId ?? "")}, ${shownValue(field, valueId)}.`,
  unknown_text: (input) => `${input}: neither an ID nor the text of any value of the field.`,
  value: (input) => `${input}.`,
};

export function readSentence(
  { input, readAs, valueId, fits }: InputStep,
  field: FieldDefinition | undefined,
): string {
  if (readAs === "absent" || input === null) return "nothing.";
  const several =
    fits.length < 2
      ? ""
      : ` It fits ${fits.length} values of the field (${fits.map(bare).join(", ")}), so this is ambiguous.`;
  return READ[readAs](quoted(input), field, valueId) + several;
}

function shownValue(field: FieldDefinition | undefined, valueId: string | null): string {
  const offered = field?.selectValues.find((each) => each.valueId === valueId);
  if (offered === undefined) return "the field does not offer it";
  const text = offered.display ?? offered.value;
  return `${text === null ? "it has no text" : quoted(text)}${offered.archived ? ", which is archived" : ""}`;
}

export function entrySentence({ entryIds, row }: EntryStep, passthrough: boolean): string {
  if (row.status === "no_value_mapping")
    return `There is nothing to look up${passthrough ? "; the value is sent as it is" : ", and nothing is sent"}.`;
  if (row.status === "unknown_value")
    return "No entry can be looked up for it: the value is unknown, and nothing is sent.";
  if (row.status === "unmapped")
    return "The mapping has no entry for it: the value is unmapped, and nothing is sent.";
  const [entry = "", ...others] = entryIds.map(bare);
  const more =
    others.length === 0
      ? ""
      : ` ${listed(others, "and")} would fit too; the first in source order counts, so this is ambiguous.`;
  const made =
    row.externalValue === null
      ? "has no external value, and nothing is sent"
      : `makes it ${quoted(row.externalValue)}`;
  return `The entry ${entry} ${made}.${more}`;
}

/** Words for each cause, of a value. */
const CAUSE_WORDS: Readonly<Record<Cause, string>> & Readonly<Record<string, string>> = {
  first_seen: "the item was first seen",
  item_removed: "the item was removed",
  item_returned: "the item came back",
  item_changed: "the item changed",
  destination_changed: "the destination changed",
  mapping_changed: "the mapping changed",
  definition_changed: "the definition of the field changed",
  reordered: "the values were put in another order",
};

/** Since when a value is as it is, and why. */
export function sinceSentence({ run, startedAt, causes, begins, why }: Since): string {
  const when = `So since ${shownInstant(startedAt)}, run ${run}`;
  if (begins) return `${when}, with which the history begins.`;
  const words = causes.map((cause) => CAUSE_WORDS[cause] ?? bare(cause));
  const because = why.length === 0 ? "" : ` (${why.map(bare).join("; ")})`;
  return `${when}: ${listed(words, "and")}${because}.`;
}

/** `2026-11-20 02:00:00 UTC`. */
export function shownInstant(iso: string): string {
  return iso.replace("T", " ").replace("Z", " UTC");
}

/** Lines of a screen that a title may take. */
const TITLE_LINES = 3;

/** The title of an item, cut where it would fill a screen. */
export function titleText(title: string | null, { width }: Told): string {
  if (title === null) return "An item without a title";
  return width === undefined ? bare(title) : truncate(bare(title), TITLE_LINES * width);
}
