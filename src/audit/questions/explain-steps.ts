/** The steps of an explanation: for each rule of the mapping procedure what it was given, what it gives, and by what. */
import { col, type RowOf, type Section, section } from "../../common/answer.ts";
import { listed } from "../../common/nearest.ts";
import type { Destination, FieldDefinition } from "../mapping/definitions.ts";
import type { MappedValue } from "../mapping/mapped-value.ts";
import type {
  EntryStep,
  InputStep,
  MappingStep,
  NameStep,
  ReadAs,
  Step,
  TypeStep,
} from "../mapping/procedure.ts";
import { DESTINATION } from "./coverage.ts";
import { pointerTo } from "./evidence.ts";
import type { ItemExplanation } from "./explain.ts";

/** What of an explanation is told; undefined: all. */
export interface Told {
  readonly destinationIds?: readonly string[] | undefined;
  readonly fieldIds?: readonly string[] | undefined;
}

export function isWanted(ids: readonly string[] | undefined, id: string): boolean {
  return ids?.includes(id) ?? true;
}

const STEPS = {
  ...DESTINATION,
  custom_field_id: col.text({ hidden: true }),
  custom_field: col.text({ head: "field", standIn: "custom_field_id" }),
  /** By its number in the mapping procedure. */
  rule: col.count({ required: true }),
  input: col.text(),
  result: col.text({ required: true }),
  evidence: col.text(),
} as const;
type StepRow = RowOf<typeof STEPS>;

type StepCells = Pick<StepRow, "input" | "result" | "evidence">;

export function stepsSection(explanation: ItemExplanation, told: Told): Section {
  const { definitions, mapped } = explanation;
  const fields = new Map(definitions.fields.map((field) => [field.customFieldId, field]));
  const rows = definitions.destinations
    .filter(({ destinationId }) => isWanted(told.destinationIds, destinationId))
    .flatMap((destination) => destinationRows(explanation, { destination, fields, told }));
  return section({
    key: "steps",
    title: "Step by step, by the rules of the mapping procedure",
    none: "no destination maps a field of which this item has a value",
    columns: STEPS,
    keys: 3,
    rows: mapped.steps.length === 0 ? [] : rows,
    limit: 10_000,
  });
}

interface At {
  readonly destination: Destination;
  readonly fields: ReadonlyMap<string, FieldDefinition>;
  readonly told: Told;
}

/** None where the item has nothing that the destination maps, and nobody asked for it. */
function destinationRows(explanation: ItemExplanation, at: At): StepRow[] {
  const { destination, fields, told } = at;
  const { destinationId, identification } = destination;
  const steps = explanation.mapped.steps.filter((step) => step.destinationId === destinationId);
  const isGiven = new Set(steps.flatMap((step) => (step.rule === 6 ? [step.customFieldId] : [])));
  const isTold = (step: Step) =>
    !("customFieldId" in step) ||
    (told.fieldIds === undefined
      ? isGiven.has(step.customFieldId)
      : told.fieldIds.includes(step.customFieldId));
  if (isGiven.size === 0 && told.destinationIds === undefined && told.fieldIds === undefined) return [];
  const names = new Set(
    steps.flatMap((step) => (step.rule === 3 && isTold(step) ? [step.externalFieldName] : [])),
  );
  return steps
    .filter((step) => isTold(step) && (step.rule !== 7 || names.has(step.externalFieldName)))
    .map((step) => {
      const fieldId = "customFieldId" in step ? step.customFieldId : null;
      const field = fieldId === null ? undefined : fields.get(fieldId);
      return {
        destination_id: destinationId,
        destination: identification,
        custom_field_id: fieldId,
        custom_field: field?.name ?? null,
        rule: step.rule,
        ...stepCells(step, { explanation, at, field }),
      };
    });
}

interface StepContext {
  readonly explanation: ItemExplanation;
  readonly at: At;
  readonly field: FieldDefinition | undefined;
}

function stepCells(step: Step, { explanation, at, field }: StepContext): StepCells {
  const { evidence, passthrough } = explanation;
  switch (step.rule) {
    case 1:
      return {
        input: step.destinationId,
        result: supportText(at.destination),
        evidence: requestsText(explanation, "destinations"),
      };
    case 2:
      return {
        input: step.customFieldId,
        result: mappingText(step),
        evidence: requestsText(explanation, "custom_fields"),
      };
    case 3:
      return { input: step.mappingId, result: nameText(step, at.fields), evidence: null };
    case 4:
      return { input: step.fieldType, result: typeText(step, passthrough), evidence: null };
    case 5: {
      const part = evidence.document?.parts.get(step.customFieldId);
      const place = part === undefined ? null : `${pointerTo(step.customFieldId)} ${part}`;
      return { input: step.input, result: readText(step, field), evidence: place };
    }
    case 6:
      return {
        input: step.row.valueId,
        result: entryText(step, field?.fieldType ?? null, passthrough),
        evidence: null,
      };
    case 7:
      return {
        input: step.externalFieldName,
        result: JSON.stringify(step.values),
        evidence: "content_external_payloads has the same",
      };
  }
}

/** `request 4`: what the definitions, or the destinations, came with. */
function requestsText({ evidence }: ItemExplanation, mode: string): string | null {
  const numbers = evidence.lookups.flatMap((each) => (each.mode === mode ? [String(each.request)] : []));
  if (numbers.length === 0) return null;
  return `${numbers.length === 1 ? "request" : "requests"} ${listed(numbers, "and")}`;
}

function supportText({ identification, supportsMappings }: Destination): string {
  if (identification === null)
    return "it was not looked up: its ID stands in mappings, and its name is not known";
  if (supportsMappings === null) return "whether it supports custom field mappings is not known";
  return supportsMappings
    ? "it supports custom field mappings"
    : "it says that it supports no custom field mappings; they are followed all the same";
}

function mappingText({ mappingIds, mappingId }: MappingStep): string {
  if (mappingId === null) return "the field has no mapping there: its values go nowhere";
  if (mappingIds.length < 2) return `the mapping ${mappingId}`;
  const others = listed(mappingIds.slice(1), "and");
  return `the mapping ${mappingId}, the first; there is ${others} too, so all values are ambiguous`;
}

function nameText(
  { externalFieldName, entries, sharedBy, customFieldId }: NameStep,
  fields: ReadonlyMap<string, FieldDefinition>,
): string {
  if (externalFieldName === null) return "no external name, so that nothing can be sent under it";
  const others = sharedBy.filter((id) => id !== customFieldId).map((id) => fields.get(id)?.name ?? id);
  const has = entries === 1 ? "1 entry" : `${entries === 0 ? "no" : entries} entries`;
  const shared =
    others.length === 0
      ? ""
      : `; ${listed(others, "and")} ${others.length === 1 ? "has" : "have"} that name there too: a collision, their values share one list`;
  return `called "${externalFieldName}", with ${has}${shared}`;
}

function typeText({ hasValueMappings }: TypeStep, passthrough: boolean): string {
  if (hasValueMappings) return "it has value mappings: each value is looked up";
  return `it has no value mappings: values are ${passthrough ? "sent as they are" : "kept, and not sent"}`;
}

const READ: Readonly<Record<ReadAs, string>> = {
  absent: "the item has no value",
  id_in_value_ids: "a value ID, as custom_field_value_ids says",
  id_of_select_value: "the ID of a value of the field",
  id_in_mapping: "a value ID, since a mapping of the field has it as one",
  text_of_value: "no ID, but the text of a value",
  text_of_display: "no ID, but what people are shown for a value",
  unknown_text: "neither an ID nor the text of any value of the field",
  value: "a value as it is",
};

function readText({ readAs, valueId, fits }: InputStep, field: FieldDefinition | undefined): string {
  const offered = field?.selectValues.find((each) => each.valueId === valueId);
  const text = offered?.display ?? offered?.value ?? null;
  const own =
    valueId === null
      ? ""
      : offered === undefined
        ? ", which the field does not offer"
        : `: ${text === null ? "it has no text" : `"${text}"`}`;
  const archived = offered?.archived === true ? ", which is archived" : "";
  const several = fits.length < 2 ? "" : `; it fits ${fits.join(", ")}, so this is ambiguous`;
  return `${READ[readAs]}${own}${archived}${several}`;
}

function entryText({ entryIds, row }: EntryStep, fieldType: string | null, passthrough: boolean): string {
  const others = entryIds.slice(1);
  const more =
    others.length === 0
      ? ""
      : `; ${listed(others, "and")} would fit too, the first in source order counts: ambiguous`;
  return outcomeText(row, fieldType, passthrough) + more;
}

export type Outcome = Pick<
  MappedValue,
  "status" | "externalFieldName" | "externalValue" | "mappingId" | "mappingValueId"
>;

/** What becomes of a value, and by what. */
export function outcomeText(
  { status, externalFieldName, externalValue, mappingId, mappingValueId }: Outcome,
  fieldType: string | null,
  passthrough: boolean,
): string {
  if (status === "unmapped") return `the mapping ${mappingId} has no entry for it`;
  if (status === "unknown_value") return "it is none of the field's values";
  if (status === "no_value_mapping") {
    const field = fieldType === null ? "the field" : `a field of the type ${fieldType}`;
    return `${field} has no value mappings: it is ${passthrough ? "sent as it is" : "not sent"}`;
  }
  if (externalValue === null) return `the entry ${mappingValueId} has no external value`;
  if (externalFieldName === null) return "the mapping has no external field name";
  return `the entry ${mappingValueId} makes it "${externalValue}"`;
}
