/** Explains the mapped values of an item rule by rule. */
import { type AnswerRow, col, type Section, section } from "../../common/answer.ts";
import { joinWords } from "../../common/nearest.ts";
import type { MappedValue } from "../mapped-value.ts";
import { DESTINATION, FIELD } from "../mapping/columns.ts";
import { type AuditScope, isSelected } from "../scope.ts";
import type { ItemExplanation } from "./explain-facts.ts";

type Definitions = ItemExplanation["definitions"];
type FieldDefinition = Definitions["fields"][number];
type Mapping = FieldDefinition["mappings"][number];
type SelectValue = FieldDefinition["selectValues"][number];
type ItemValue = ItemExplanation["values"][number];

const STEPS = {
  ...DESTINATION,
  custom_field_id: col.text(),
  custom_field: FIELD.custom_field,
  /** Number of the rule in the mapping procedure. Rule 8 repeats 2 to 6 for every field. */
  rule: col.count({ required: true }),
  input: col.text(),
  result: col.text({ required: true }),
  evidence: col.text(),
} as const;
type StepRow = AnswerRow<typeof STEPS>;
type RuleStep = Pick<StepRow, "rule" | "input" | "result" | "evidence">;

export function stepsSection(explanation: ItemExplanation, scope: AuditScope): Section {
  const destinations = explanation.definitions.destinations.filter(({ destinationId }) =>
    isSelected(scope.destinationIds, destinationId),
  );
  return section({
    key: "steps",
    title: "Step by step, by the rules of the mapping procedure",
    none: "no destination maps a field of which this item has a value",
    columns: STEPS,
    shows: ["destination", "custom_field", "rule", "input", "result", "evidence"],
    isGrouped: true,
    rows: destinations.flatMap((destination) => destinationRows(explanation, destination, scope)),
    limit: 10_000,
  });
}

/** Rows of a destination. Empty if it maps nothing of the item, unless the destination or a field was asked for. */
function destinationRows(
  explanation: ItemExplanation,
  destination: Definitions["destinations"][number],
  { destinationIds, fieldIds }: AuditScope,
): StepRow[] {
  const { destinationId: id, identification, supportsMappings } = destination;
  const mapped = new Set(
    explanation.mappedValues.flatMap((row) => (row.destinationId === id ? row.customFieldId : [])),
  );
  if (mapped.size === 0 && destinationIds === undefined && fieldIds === undefined) return [];
  const fields = explanation.definitions.fields.filter(
    ({ customFieldId }) => fieldIds?.includes(customFieldId) ?? mapped.has(customFieldId),
  );
  const names = new Set(fields.map((field) => mappingsAt(field, id)[0]?.externalFieldName));
  const members = explanation.payloads.filter((each) => each.destinationId === id && names.has(each.name));
  const supports =
    supportsMappings === null
      ? "whether it supports custom field mappings is not known"
      : `it ${supportsMappings ? "supports custom field mappings" : "does not support custom field mappings; they are applied anyway"}`;
  const rowsOf = (field: FieldDefinition | undefined, steps: readonly RuleStep[]) =>
    steps.map((step) => ({
      destination_id: id,
      destination: identification,
      custom_field_id: field?.customFieldId ?? null,
      custom_field: field?.name ?? null,
      ...step,
    }));
  return [
    ...rowsOf(undefined, [{ rule: 1, input: id, result: supports, evidence: null }]),
    ...fields.flatMap((field) => rowsOf(field, fieldSteps(explanation, id, field))),
    ...members.flatMap(({ name, values }) => {
      const result = JSON.stringify(values);
      return rowsOf(undefined, [{ rule: 7, input: name, result, evidence: "content_external_payloads" }]);
    }),
  ];
}

/** Mappings of a field for a destination, in source order. The first counts. */
function mappingsAt(field: FieldDefinition | undefined, destinationId: string): Mapping[] {
  return field?.mappings.filter((mapping) => mapping.destinationId === destinationId) ?? [];
}

function fieldSteps(explanation: ItemExplanation, destinationId: string, field: FieldDefinition): RuleStep[] {
  const { mappedValues, document, passthrough } = explanation;
  const { customFieldId: id, fieldType } = field;
  const mappings = mappingsAt(field, destinationId);
  const [mapping, ...others] = mappings;
  const ids = others.map(({ mappingId }) => mappingId);
  const several = `, the first; there is ${joinWords(ids, "and")} too, so all values are ambiguous`;
  const first = `the mapping ${mapping?.mappingId}${ids.length === 0 ? "" : several}`;
  const rule2 = {
    rule: 2,
    input: id,
    result: mapping === undefined ? "the field has no mapping there, so its values are not sent" : first,
    evidence: null,
  };
  if (mapping === undefined) return [rule2];
  const part = document?.parts.get(id);
  const pointer = `/custom_fields/${id.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const place = part === undefined ? null : `${pointer} ${part}`;
  const given = mappedValues
    .filter((row) => row.destinationId === destinationId && row.customFieldId === id)
    .flatMap((row) => {
      const value = itemValueOf(explanation, row);
      const outcome = outcomeText(explanation, row) + otherEntriesText(row, mapping);
      return [
        { rule: 5, input: value?.input ?? null, result: inputText(row, field, value), evidence: place },
        { rule: 6, input: row.valueId, result: outcome, evidence: null },
      ];
    });
  const absent = { rule: 5, input: null, result: "the item has no value", evidence: place };
  const hasValueMappings = fieldType === "select" || fieldType === "multiselect";
  const type = hasValueMappings
    ? "it has value mappings: each value is looked up"
    : `it has no value mappings: values are ${passthrough ? "sent as they are" : "kept, and not sent"}`;
  return [
    rule2,
    { rule: 3, input: mapping.mappingId, result: nameText(explanation, mapping, id), evidence: null },
    { rule: 4, input: fieldType, result: type, evidence: null },
    ...(given.length > 0 ? given : [absent]),
  ];
}

function nameText(explanation: ItemExplanation, mapping: Mapping, customFieldId: string): string {
  const { destinationId, externalFieldName, entries } = mapping;
  if (externalFieldName === null || destinationId === null) return "no external name, so nothing can be sent";
  const others = otherFieldsNamed(explanation, { destinationId, externalFieldName, customFieldId });
  const has = entries.length === 1 ? "1 entry" : `${entries.length === 0 ? "no" : entries.length} entries`;
  const have = others.length === 1 ? "has" : "have";
  const shared = `; ${joinWords(others, "and")} ${have} that name there too: a collision, their values share one list`;
  return `called "${externalFieldName}", with ${has}${others.length === 0 ? "" : shared}`;
}

/** Names of the other fields that have the external name at the destination. */
function otherFieldsNamed(
  { definitions }: ItemExplanation,
  at: Pick<MappedValue, "destinationId" | "externalFieldName" | "customFieldId">,
): string[] {
  return definitions
    .fieldsNamed(at.destinationId, at.externalFieldName ?? "")
    .filter((id) => id !== at.customFieldId)
    .map((id) => definitions.fields.find((field) => field.customFieldId === id)?.name ?? id);
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
  const archived = offered?.archived === true ? ", which is archived" : "";
  if (!row.matchedByText && value?.inputIsId === true) {
    const what = offered === undefined ? "a value that the field does not offer" : selectValueText(offered);
    return `the ID of ${what} (from \`custom_field_value_ids\`)${archived}`;
  }
  const own =
    offered === undefined ? ", which the field does not offer" : `: ${selectValueText(offered)}${archived}`;
  if (!row.matchedByText)
    return `${offered === undefined ? "a value ID, since a mapping of the field has it as one" : "the ID of a value of the field"}${own}`;
  const input = value?.input;
  const ids = fittingValues(selectValues, input).map(({ valueId }) => valueId);
  const several = ids.length < 2 ? "" : `; it fits ${ids.join(", ")}, so this is ambiguous`;
  return `no ID, but the ${offered?.value === input ? "" : "display "}text of a value${own}${several}`;
}

/** Select values with this text, in source order. */
function fittingValues(selectValues: readonly SelectValue[], text: string | null | undefined): SelectValue[] {
  return selectValues.filter(({ value, display }) => value === text || display === text);
}

function entriesFor({ valueId }: MappedValue, { entries }: Mapping) {
  return entries.filter((entry) => valueId !== null && entry.valueId === valueId);
}

function otherEntriesText(row: MappedValue, mapping: Mapping): string {
  const others = entriesFor(row, mapping)
    .slice(1)
    .map(({ mappingValueId }) => mappingValueId);
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

/** What is unusual about a mapped value; null if nothing is. */
export function notesOf(explanation: ItemExplanation, row: MappedValue): string | null {
  const { externalFieldName, externalValue, status } = row;
  const others = joinWords(otherFieldsNamed(explanation, row), "and");
  const notes = [
    ...(status === "mapped" && externalValue === null ? ["its entry has no external value"] : []),
    ...(externalFieldName === null ? ["its mapping has no external name"] : []),
    ...(row.matchedByText ? [`matched by text "${itemValueOf(explanation, row)?.input}"`] : []),
    ...ambiguityOf(explanation, row),
    ...(row.collision ? [`collision with ${others}`] : []),
    ...(row.valueArchived ? ["archived"] : []),
  ];
  return notes.join("; ") || null;
}

/** Candidates if several select values, mappings or entries fit. The first counts. */
function ambiguityOf(explanation: ItemExplanation, row: MappedValue): string[] {
  if (!row.ambiguous) return [];
  const field = explanation.definitions.fields.find((each) => each.customFieldId === row.customFieldId);
  const input = row.matchedByText ? itemValueOf(explanation, row)?.input : undefined;
  const values = fittingValues(field?.selectValues ?? [], input)
    .toSorted((a, b) => Number(b.value === input) - Number(a.value === input))
    .map(selectValueText);
  const sent = mappingsAt(field, row.destinationId).flatMap((mapping) => {
    if (row.status === "no_value_mapping") return `as "${mapping.externalFieldName}"`;
    const texts = entriesFor(row, mapping).map(({ externalValue: text }) =>
      text === null ? "nothing" : `"${text}"`,
    );
    return texts.length === 0 ? "nothing" : texts;
  });
  const candidates = [values, sent].filter(({ length }) => length > 1);
  return candidates.map((texts) => `ambiguous: ${joinWords(texts, "or")}`);
}

/** The result of a value, and the definition behind it. */
function outcomeText({ definitions, passthrough }: ItemExplanation, row: MappedValue): string {
  if (row.status === "unmapped") return `the mapping ${row.mappingId} has no entry for it`;
  if (row.status === "unknown_value") return "it is not a value of the field";
  if (row.status === "no_value_mapping") {
    const type = definitions.fields.find((each) => each.customFieldId === row.customFieldId)?.fieldType;
    const field = type == null ? "the field" : `a field of the type ${type}`;
    return `${field} has no value mappings: it is ${passthrough ? "sent as it is" : "not sent"}`;
  }
  if (row.externalValue === null) return `the entry ${row.mappingValueId} has no external value`;
  if (row.externalFieldName === null) return "the mapping has no external field name";
  return `the entry ${row.mappingValueId} makes it "${row.externalValue}"`;
}
