/** An explanation for a person: what each destination receives, then what is not sent and why; the steps if asked for. */
import type { Destination, FieldDefinition } from "../../audit/mapping/definitions.ts";
import type { MappedValue } from "../../audit/mapping/mapped-value.ts";
import type { ItemExplanation } from "../../audit/questions/explain.ts";
import { listed } from "../../common/nearest.ts";
import {
  bare,
  isWanted,
  type Line,
  partsText,
  payloadLines,
  quoted,
  shownInstant,
  type Told,
  titleText,
} from "./explain-sentences.ts";
import { stepsParts } from "./explain-steps-text.ts";

export interface ToldText extends Told {
  readonly verdict: string;
  /** Whether the rules are told too, one by one, and where each thing was read. */
  readonly steps: boolean;
}

export function explanationText(explanation: ItemExplanation, told: ToldText): string {
  const answers = explanation.definitions.destinations
    .filter(({ destinationId }) => isWanted(told.destinationIds, destinationId))
    .map((destination) => answerLines(explanation, told, destination))
    .filter((lines) => lines.length > 0);
  const none: Line = ["", "No destination maps a field of which this item has a value."];
  return partsText(
    [
      headingLines(explanation.item, told),
      ...(answers.length === 0 ? [[none]] : answers),
      ...(told.steps ? stepsParts(explanation, told) : [[sourceLine(explanation)]]),
    ],
    told.width,
  );
}

function headingLines(
  { contentId, slug, title, contentType, updatedAt }: ItemExplanation["item"],
  told: ToldText,
): Line[] {
  const facts = [
    `Item ${bare(contentId)}`,
    slug !== null && `slug ${bare(slug)}`,
    contentType !== null && `content type ${quoted(contentType)}`,
    updatedAt !== null && `last changed ${shownInstant(updatedAt)}`,
  ].filter((fact) => fact !== false);
  const unsettled = told.verdict === "unsettled" ? ", which is unsettled" : "";
  return [
    ["", titleText(title, told)],
    ["", `${facts.join(", ")}.`],
    ["", `Published by run ${told.run}${unsettled}.`],
  ];
}

function sourceLine({ evidence }: ItemExplanation): Line {
  const request = evidence.document?.request;
  const read =
    request === undefined
      ? ""
      : `Read with request ${request.request}, answered ${shownInstant(request.observedAt)}. `;
  const more =
    "--steps shows each rule, the entry and the document behind every value, and since when it is so.";
  return ["", read + more];
}

/** None where the item has nothing that the destination maps, and nobody asked for it. */
function answerLines(
  explanation: ItemExplanation,
  { destinationIds, fieldIds }: Told,
  destination: Destination,
): Line[] {
  const { destinationId } = destination;
  const { ledger, payloads } = explanation.mapped;
  const rows = ledger.filter(
    (row) => row.destinationId === destinationId && isWanted(fieldIds, row.customFieldId),
  );
  if (rows.length === 0 && destinationIds === undefined && fieldIds === undefined) return [];
  const at = nameOf(destination);
  const names = new Set(rows.map(({ externalFieldName }) => externalFieldName));
  const members = [...(payloads.get(destinationId) ?? [])].filter(([name]) => names.has(name));
  const of = fieldIds === undefined ? "of this item" : "by this field";
  return [
    ...payloadLines(members, `${at} receives:`, `${at} receives nothing ${of}.`),
    ...notSentLines(explanation, rows),
    ...(fieldIds === undefined ? unmappedLines(explanation, destinationId) : []),
  ];
}

/** What stands before "receives". */
function nameOf({ destinationId, identification, supportsMappings }: Destination): string {
  if (identification === null) return `The destination ${bare(destinationId)}, which was not looked up,`;
  const unsupported = supportsMappings === false ? ", which says that it supports no mappings," : "";
  return `${bare(identification)}${unsupported}`;
}

function notSentLines({ definitions, passthrough }: ItemExplanation, rows: readonly MappedValue[]): Line[] {
  const lines = rows.flatMap((row): Line[] => {
    const field = definitions.fields.find((each) => each.customFieldId === row.customFieldId);
    const why = whyNotSent(row, field, passthrough);
    if (why === undefined) return [];
    const own = row.value ?? row.valueId;
    const value = own === null ? "a value without text" : quoted(own);
    const archived = row.valueArchived ? " (archived)" : "";
    return [["    ", `${bare(field?.name ?? row.customFieldId)}: ${value}${archived}: ${why}`]];
  });
  return lines.length === 0 ? [] : [["  ", "Not sent:"], ...lines];
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
function unmappedLines({ definitions, values }: ItemExplanation, destinationId: string): Line[] {
  const given = new Set(
    values.values.flatMap(({ customFieldId, input }) => (input === null ? [] : [customFieldId])),
  );
  const names = definitions.fields
    .filter(({ customFieldId }) => given.has(customFieldId))
    .filter(({ mappings }) => mappings.every((mapping) => mapping.destinationId !== destinationId))
    .map(({ name, customFieldId }) => bare(name ?? customFieldId));
  return names.length === 0 ? [] : [["  ", `No mapping for the values in ${listed(names, "and")}.`]];
}
