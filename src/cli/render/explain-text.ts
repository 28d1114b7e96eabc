/** An explanation for a person: what each destination receives, then what is not sent and why; the steps if asked for. */
import type { Destination, FieldDefinition } from "../../audit/mapping/definitions.ts";
import type { MappedValue } from "../../audit/mapping/mapped-value.ts";
import type { ItemExplanation } from "../../audit/questions/explain.ts";
import { listed } from "../../common/nearest.ts";
import {
  bare,
  isWanted,
  memberText,
  quoted,
  shownInstant,
  type Told,
  titleText,
} from "./explain-sentences.ts";
import { stepsText } from "./explain-steps-text.ts";
import { paragraph } from "./terminal.ts";

export interface ToldText extends Told {
  readonly verdict: string;
  /** Whether the rules are told too, one by one, and where each thing was read. */
  readonly steps: boolean;
}

export function explanationText(explanation: ItemExplanation, told: ToldText): string {
  const { width } = told;
  const answers = explanation.definitions.destinations
    .filter(({ destinationId }) => isWanted(told.destinationIds, destinationId))
    .flatMap(({ destinationId }) => answerText(explanation, told, destinationId) ?? []);
  const none = paragraph("", "No destination maps a field of which this item has a value.", width);
  const rest = told.steps ? stepsText(explanation, told) : paragraph("", sourceSentence(explanation), width);
  return [headingText(explanation.item, told), ...(answers.length === 0 ? [none] : answers), rest].join("\n");
}

function headingText(
  { contentId, slug, title, contentType, updatedAt }: ItemExplanation["item"],
  told: ToldText,
): string {
  const facts = [
    `Item ${bare(contentId)}`,
    slug !== null && `slug ${bare(slug)}`,
    contentType !== null && `content type ${quoted(contentType)}`,
    updatedAt !== null && `last changed ${shownInstant(updatedAt)}`,
  ].filter((fact) => fact !== false);
  const unsettled = told.verdict === "unsettled" ? ", which is unsettled" : "";
  return [titleText(title, told), `${facts.join(", ")}.`, `Published by run ${told.run}${unsettled}.`]
    .map((text) => paragraph("", text, told.width))
    .join("");
}

function sourceSentence({ evidence }: ItemExplanation): string {
  const { document } = evidence;
  const read =
    document?.request === undefined
      ? ""
      : `Read with request ${document.request.request}, answered ${shownInstant(document.request.observedAt)}. `;
  return `${read}--steps shows each rule, the entry and the document behind every value, and since when it is so.`;
}

/** Undefined where the item has nothing that the destination maps, and nobody asked for it. */
function answerText(
  explanation: ItemExplanation,
  { destinationIds, fieldIds, width }: Told,
  destinationId: string,
): string | undefined {
  const { definitions, mapped } = explanation;
  const rows = mapped.ledger.filter(
    (row) => row.destinationId === destinationId && isWanted(fieldIds, row.customFieldId),
  );
  if (rows.length === 0 && destinationIds === undefined && fieldIds === undefined) return undefined;
  const destination = definitions.destinations.find((each) => each.destinationId === destinationId);
  const at = nameOf(destinationId, destination);
  const names = new Set(rows.map(({ externalFieldName }) => externalFieldName));
  const payload = mapped.payloads.find((each) => each.destinationId === destinationId);
  const members = [...(payload?.members ?? [])].filter(([name]) => names.has(name));
  const of = fieldIds === undefined ? "of this item" : "by this field";
  return [
    paragraph("", members.length === 0 ? `${at} receives nothing ${of}.` : `${at} receives:`, width),
    ...members.map(([name, values]) => paragraph("  ", memberText(name, values), width)),
    notSentText(explanation, rows, width),
    fieldIds === undefined ? unmappedText(explanation, destinationId, width) : "",
  ].join("");
}

/** What stands before "receives". */
function nameOf(destinationId: string, destination: Destination | undefined): string {
  const { identification = null, supportsMappings = null } = destination ?? {};
  if (identification === null) return `The destination ${bare(destinationId)}, which was not looked up,`;
  const unsupported = supportsMappings === false ? ", which says that it supports no mappings," : "";
  return `${bare(identification)}${unsupported}`;
}

/** A line for each value that is not sent. */
function notSentText(
  { definitions, passthrough }: ItemExplanation,
  rows: readonly MappedValue[],
  width: number | undefined,
): string {
  const lines = rows.flatMap((row) => {
    const field = definitions.fields.find((each) => each.customFieldId === row.customFieldId);
    const why = whyNotSent(row, field, passthrough);
    if (why === undefined) return [];
    const value = row.value ?? row.valueId;
    const archived = row.valueArchived ? " (archived)" : "";
    const what = `${bare(field?.name ?? row.customFieldId)}: ${value === null ? "a value without text" : quoted(value)}${archived}`;
    return [paragraph("    ", `${what}: ${why}`, width)];
  });
  return lines.length === 0 ? "" : `  Not sent:\n${lines.join("")}`;
}

/** Undefined: it is sent. */
function whyNotSent(
  { status, externalFieldName, externalValue, mappingId, mappingValueId }: MappedValue,
  field: FieldDefinition | undefined,
  passthrough: boolean,
): string | undefined {
  if (status === "unmapped") return `unmapped, the mapping ${bare(mappingId)} has no entry for it`;
  if (status === "unknown_value") return "unknown, it is none of the field's values";
  if (status === "no_value_mapping" && !passthrough) {
    return `a field of the type ${bare(field?.fieldType ?? "unknown")} has no value mappings`;
  }
  if (status === "mapped" && externalValue === null) {
    return `the entry ${bare(mappingValueId ?? "")} has no external value`;
  }
  return externalFieldName === null ? "the mapping has no external field name" : undefined;
}

/** Fields of which the item has values, and that the destination has no mapping for. */
function unmappedText(
  { definitions, values }: ItemExplanation,
  destinationId: string,
  width: number | undefined,
): string {
  const given = new Set(
    values.values.flatMap(({ customFieldId, input }) => (input === null ? [] : [customFieldId])),
  );
  const names = definitions.fields
    .filter(({ customFieldId }) => given.has(customFieldId))
    .filter(({ mappings }) => mappings.every((mapping) => mapping.destinationId !== destinationId))
    .map(({ name, customFieldId }) => bare(name ?? customFieldId));
  if (names.length === 0) return "";
  return paragraph("  ", `No mapping for the values in ${listed(names, "and")}.`, width);
}
