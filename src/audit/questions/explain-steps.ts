/** Explains the mapped values of an item rule by rule. */
import { type AnswerRow, col, type Section, section } from "../../common/answer.ts";
import { joinWords } from "../../common/nearest.ts";
import type { MappedValue } from "../mapped-value.ts";
import type { DestinationDefinition, FieldDefinition, Mapping, SelectValue } from "../mapping/definitions.ts";
import type { AuditScope } from "../scope.ts";
import { DESTINATION } from "./coverage.ts";
import { fieldPointer } from "./evidence.ts";
import type { ItemExplanation } from "./explain.ts";
import type { ItemValue } from "./item-values.ts";

export function isSelected(ids: readonly string[] | undefined, id: string): boolean {
  return ids?.includes(id) ?? true;
}

const STEPS = {
  ...DESTINATION,
  custom_field_id: col.text({ hidden: true }),
  custom_field: col.text({ head: "field", standIn: "custom_field_id" }),
  /** Number of the rule in the mapping procedure. Rule 8 repeats 2 to 6 for every field. */
  rule: col.count({ required: true }),
  input: col.text(),
  result: col.text({ required: true }),
  evidence: col.text(),
} as const;

type RuleStep = Pick<AnswerRow<typeof STEPS>, "rule" | "input" | "result" | "evidence">;

export function stepsSection(explanation: ItemExplanation, scope: AuditScope): Section {
  const destinations = explanation.definitions.destinations.filter(({ destinationId }) =>
    isSelected(scope.destinationIds, destinationId),
  );
  return section({
    key: "steps",
    title: "Step by step, by the rules of the mapping procedure",
    none: "no destination maps a field of which this item has a value",
    columns: STEPS,
    rows: destinations.flatMap((destination) => destinationRows(explanation, destination, scope)),
    limit: 10_000,
  });
}

/** Rows of a destination. Empty if it maps nothing of the item, unless the destination or a field was asked for. */
function destinationRows(
  explanation: ItemExplanation,
  destination: DestinationDefinition,
  { destinationIds, fieldIds }: AuditScope,
): AnswerRow<typeof STEPS>[] {
  const { definitions, payloads } = explanation;
  const { destinationId, identification } = destination;
  const mappedValues = explanation.mappedValues.filter((row) => row.destinationId === destinationId);
  if (mappedValues.length === 0 && destinationIds === undefined && fieldIds === undefined) return [];
  const fields = definitions.fields.filter(
    ({ customFieldId: id }) => fieldIds?.includes(id) ?? mappedValues.some((row) => row.customFieldId === id),
  );
  const names = new Set(fields.map((field) => mappingsAt(field, destination)[0]?.externalFieldName));
  const rowsOf = (field: FieldDefinition | undefined, steps: readonly RuleStep[]) =>
    steps.map((step) => ({
      destination_id: destinationId,
      destination: identification,
      custom_field_id: field?.customFieldId ?? null,
      custom_field: field?.name ?? null,
      ...step,
    }));
  const rule1 = {
    rule: 1,
    input: destinationId,
    result: supportText(destination),
    evidence: requestsText(explanation, "destinations"),
  };
  const rule7 = [...(payloads.get(destinationId) ?? [])]
    .filter(([name]) => names.has(name))
    .map(([name, values]) => ({
      rule: 7,
      input: name,
      result: JSON.stringify(values),
      evidence: "content_external_payloads",
    }));
  return [
    ...rowsOf(undefined, [rule1]),
    ...fields.flatMap((field) => rowsOf(field, fieldSteps(explanation, destination, field))),
    ...rowsOf(undefined, rule7),
  ];
}

/** Mappings of a field for a destination, in source order. The first counts. */
function mappingsAt({ mappings }: FieldDefinition, { destinationId }: DestinationDefinition): Mapping[] {
  return mappings.filter((mapping) => mapping.destinationId === destinationId);
}

function fieldSteps(
  explanation: ItemExplanation,
  destination: DestinationDefinition,
  field: FieldDefinition,
): RuleStep[] {
  const { mappedValues, evidence, passthrough } = explanation;
  const { customFieldId, fieldType } = field;
  const mappings = mappingsAt(field, destination);
  const rule2 = {
    rule: 2,
    input: customFieldId,
    result: mappingText(mappings),
    evidence: requestsText(explanation, "custom_fields"),
  };
  const [mapping] = mappings;
  if (mapping === undefined) return [rule2];
  const part = evidence.document?.parts.get(customFieldId);
  const place = part === undefined ? null : `${fieldPointer(customFieldId)} ${part}`;
  const rows = mappedValues.filter(
    (row) => row.destinationId === destination.destinationId && row.customFieldId === customFieldId,
  );
  const given = rows.flatMap((row) => {
    const value = itemValueOf(explanation, row);
    return [
      { rule: 5, input: value?.input ?? null, result: inputText(row, field, value), evidence: place },
      {
        rule: 6,
        input: row.valueId,
        result: outcomeText(row, fieldType, passthrough) + otherEntriesText(row, mapping),
        evidence: null,
      },
    ];
  });
  const absent = { rule: 5, input: null, result: "the item has no value", evidence: place };
  return [
    rule2,
    { rule: 3, input: mapping.mappingId, result: nameText(explanation, mapping, field), evidence: null },
    { rule: 4, input: fieldType, result: typeText(fieldType, passthrough), evidence: null },
    ...(given.length > 0 ? given : [absent]),
  ];
}

/** Requests for definitions or destinations: `request 4`. */
function requestsText({ evidence }: ItemExplanation, mode: string): string | null {
  const numbers = evidence.lookups.flatMap((each) => (each.mode === mode ? [String(each.request)] : []));
  if (numbers.length === 0) return null;
  return `${numbers.length === 1 ? "request" : "requests"} ${joinWords(numbers, "and")}`;
}

function supportText({ identification, supportsMappings }: DestinationDefinition): string {
  if (identification === null)
    return "it was not looked up: its ID stands in mappings, and its name is not known";
  if (supportsMappings === null) return "whether it supports custom field mappings is not known";
  return supportsMappings
    ? "it supports custom field mappings"
    : "it does not support custom field mappings; they are applied anyway";
}

function mappingText([first, ...others]: readonly Mapping[]): string {
  if (first === undefined) return "the field has no mapping there, so its values are not sent";
  if (others.length === 0) return `the mapping ${first.mappingId}`;
  const ids = others.map(({ mappingId }) => mappingId);
  return `the mapping ${first.mappingId}, the first; there is ${joinWords(ids, "and")} too, so all values are ambiguous`;
}

function nameText(
  { definitions }: ItemExplanation,
  { destinationId, externalFieldName, entries }: Mapping,
  { customFieldId }: FieldDefinition,
): string {
  if (externalFieldName === null || destinationId === null) return "no external name, so nothing can be sent";
  const others = definitions
    .fieldsNamed(destinationId, externalFieldName)
    .filter((id) => id !== customFieldId)
    .map((id) => definitions.fields.find((field) => field.customFieldId === id)?.name ?? id);
  const has = entries.length === 1 ? "1 entry" : `${entries.length === 0 ? "no" : entries.length} entries`;
  const shared =
    others.length === 0
      ? ""
      : `; ${joinWords(others, "and")} ${others.length === 1 ? "has" : "have"} that name there too: a collision, their values share one list`;
  return `called "${externalFieldName}", with ${has}${shared}`;
}

function typeText(fieldType: string | null, passthrough: boolean): string {
  if (fieldType === "select" || fieldType === "multiselect")
    return "it has value mappings: each value is looked up";
  return `it has no value mappings: values are ${passthrough ? "sent as they are" : "kept, and not sent"}`;
}

/** How the input was read: as a value ID, as the text of a select value, or as neither. */
function inputText(
  row: MappedValue,
  { selectValues }: FieldDefinition,
  value: ItemValue | undefined,
): string {
  if (row.status === "no_value_mapping") return "a value as it is";
  if (row.valueId === null) return "neither an ID nor the text of any value of the field";
  const offered = selectValues.find(({ valueId }) => valueId === row.valueId);
  const own =
    offered === undefined
      ? ", which the field does not offer"
      : `: ${selectValueText(offered)}${offered.archived ? ", which is archived" : ""}`;
  if (!row.matchedByText) {
    if (value?.inputIsId === true) return `a value ID, as custom_field_value_ids says${own}`;
    return offered === undefined
      ? `a value ID, since a mapping of the field has it as one${own}`
      : `the ID of a value of the field${own}`;
  }
  const input = value?.input;
  const ids = fittingValues(selectValues, input).map(({ valueId }) => valueId);
  const several = ids.length < 2 ? "" : `; it fits ${ids.join(", ")}, so this is ambiguous`;
  const what = offered?.value === input ? "the text of a value" : "the display text of a value";
  return `no ID, but ${what}${own}${several}`;
}

/** Select values with this text, in source order. */
function fittingValues(selectValues: readonly SelectValue[], text: string | null | undefined): SelectValue[] {
  return selectValues.filter(({ value, display }) => value === text || display === text);
}

function otherEntriesText({ valueId }: MappedValue, { entries }: Mapping): string {
  const fitting = entries.filter((entry) => valueId !== null && entry.valueId === valueId);
  const others = fitting.slice(1).map(({ mappingValueId }) => mappingValueId);
  if (others.length === 0) return "";
  return `; ${joinWords(others, "and")} would fit too, the first in source order counts: ambiguous`;
}

/** Internal text, with the display text if it differs. */
function selectValueText({ value, display }: SelectValue): string {
  if (value === null) return display === null ? "it has no text" : `shown as "${display}"`;
  return display === null || display === value ? `"${value}"` : `"${value}", shown as "${display}"`;
}

function itemValueOf({ values }: ItemExplanation, row: MappedValue): ItemValue | undefined {
  return values.find((each) => each.customFieldId === row.customFieldId && each.ordinal === row.ordinal);
}

/** What is unusual about a mapped value. */
export function notesOf(explanation: ItemExplanation, row: MappedValue): string[] {
  const { definitions } = explanation;
  const { destinationId, customFieldId, externalFieldName, externalValue, status } = row;
  const others = definitions
    .fieldsNamed(destinationId, externalFieldName ?? "")
    .filter((id) => id !== customFieldId)
    .map((id) => definitions.fields.find((field) => field.customFieldId === id)?.name ?? id);
  return [
    ...(status === "mapped" && externalValue === null ? ["its entry has no external value"] : []),
    ...(externalFieldName === null ? ["its mapping has no external name"] : []),
    ...(row.matchedByText ? [`matched by text "${itemValueOf(explanation, row)?.input}"`] : []),
    ...ambiguityOf(explanation, row),
    ...(row.collision ? [`collision with ${joinWords(others, "and")}`] : []),
    ...(row.valueArchived ? ["archived"] : []),
  ];
}

/** Candidates if several select values, mappings or entries fit. The first counts. */
function ambiguityOf(explanation: ItemExplanation, row: MappedValue): string[] {
  if (!row.ambiguous) return [];
  const { destinationId, customFieldId, valueId } = row;
  const field = explanation.definitions.fields.find((each) => each.customFieldId === customFieldId);
  const input = row.matchedByText ? itemValueOf(explanation, row)?.input : undefined;
  const values = fittingValues(field?.selectValues ?? [], input)
    .toSorted((a, b) => Number(b.value === input) - Number(a.value === input))
    .map(selectValueText);
  const mappings = field?.mappings.filter((mapping) => mapping.destinationId === destinationId) ?? [];
  const sent = mappings.flatMap(({ externalFieldName, entries }) => {
    if (row.status === "no_value_mapping") return `as "${externalFieldName}"`;
    const fitting = entries.filter((entry) => valueId !== null && entry.valueId === valueId);
    if (fitting.length === 0) return "nothing";
    return fitting.map(({ externalValue }) => (externalValue === null ? "nothing" : `"${externalValue}"`));
  });
  const candidates = [values, sent].filter(({ length }) => length > 1);
  return candidates.map((texts) => `ambiguous: ${joinWords(texts, "or")}`);
}

type Outcome = Pick<
  MappedValue,
  "status" | "externalFieldName" | "externalValue" | "mappingId" | "mappingValueId"
>;

/** The result of a value, and the definition behind it. */
export function outcomeText(
  { status, externalFieldName, externalValue, mappingId, mappingValueId }: Outcome,
  fieldType: string | null,
  passthrough: boolean,
): string {
  if (status === "unmapped") return `the mapping ${mappingId} has no entry for it`;
  if (status === "unknown_value") return "it is not a value of the field";
  if (status === "no_value_mapping") {
    const field = fieldType === null ? "the field" : `a field of the type ${fieldType}`;
    return `${field} has no value mappings: it is ${passthrough ? "sent as it is" : "not sent"}`;
  }
  if (externalValue === null) return `the entry ${mappingValueId} has no external value`;
  if (externalFieldName === null) return "the mapping has no external field name";
  return `the entry ${mappingValueId} makes it "${externalValue}"`;
}
