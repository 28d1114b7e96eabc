/** The steps of an explanation, and the evidence. What comes from the service stands in quotes, made printable. */
import type { Destination, FieldDefinition } from "../../audit/mapping/definitions.ts";
import { placeKey } from "../../audit/mapping/mapped-value.ts";
import type {
  EntryStep,
  InputStep,
  MappingStep,
  NameStep,
  Step,
  TypeStep,
} from "../../audit/mapping/procedure.ts";
import { type DocumentEvidence, pointerTo, type RequestEvidence } from "../../audit/questions/evidence.ts";
import type { ItemExplanation } from "../../audit/questions/explain.ts";
import { count, counted } from "../../common/figures.ts";
import { listed } from "../../common/nearest.ts";
import {
  BLANK,
  bare,
  entrySentence,
  isWanted,
  type Line,
  mappingSentence,
  payloadLines,
  quoted,
  readSentence,
  shownInstant,
  sinceSentence,
  type Told,
  typeSentence,
  withId,
} from "./explain-sentences.ts";

interface FieldSteps {
  readonly mapping: MappingStep;
  readonly name: NameStep | undefined;
  readonly type: TypeStep | undefined;
  readonly values: readonly { readonly input: InputStep; readonly entry: EntryStep | undefined }[];
}

function ofRule<R extends Step["rule"]>(steps: readonly Step[], rule: R): Extract<Step, { rule: R }>[] {
  return steps.filter((step): step is Extract<Step, { rule: R }> => step.rule === rule);
}

/** Each rule for each destination that is spoken of, and where that was read. */
export function stepsParts(explanation: ItemExplanation, told: Told): Line[][] {
  const writer = new Writer(explanation, told);
  const parts = explanation.definitions.destinations
    .filter(({ destinationId }) => isWanted(told.destinationIds, destinationId))
    .map((destination) => writer.destination(destination))
    .filter((part) => part.length > 0);
  const numbers: Line = ["", "Step by step; the numbers are those of the mapping procedure's rules."];
  return [...(parts.length === 0 ? [] : [[numbers]]), ...parts, writer.evidence(explanation.evidence)];
}

/** A sentence with the number of its rule in the margin. */
function ruleLine(rule: number, text: string): Line {
  return [`  ${rule}  `, text];
}

class Writer {
  readonly #explanation: ItemExplanation;
  readonly #told: Told;
  readonly #fields: ReadonlyMap<string, FieldDefinition>;
  /** Fields of which the item has a value. */
  readonly #given: ReadonlySet<string>;

  constructor(explanation: ItemExplanation, told: Told) {
    this.#explanation = explanation;
    this.#told = told;
    this.#fields = new Map(explanation.definitions.fields.map((field) => [field.customFieldId, field]));
    const given = explanation.values.values.filter(({ input }) => input !== null);
    this.#given = new Set(given.map(({ customFieldId }) => customFieldId));
  }

  /** None where the item has nothing that the destination maps, and nobody asked for it. */
  destination(destination: Destination): Line[] {
    const { destinationId, identification } = destination;
    const { destinationIds, fieldIds } = this.#told;
    const steps = this.#explanation.mapped.steps.filter((step) => step.destinationId === destinationId);
    const fields = ofRule(steps, 2)
      .filter(({ customFieldId }) => isWanted(fieldIds, customFieldId))
      .map((mapping) => fieldSteps(steps, mapping));
    const given = fields.filter(({ values }) => values.some(({ entry }) => entry !== undefined));
    if (given.length === 0 && destinationIds === undefined && fieldIds === undefined) return [];
    const at = bare(identification ?? destinationId);
    return [
      ["", at],
      ruleLine(1, destinationSentence(destination)),
      ...(fieldIds === undefined ? given : fields).flatMap((field) => this.#field(field, at)),
      ...this.#payload(steps, fields, at),
      ...(fieldIds === undefined ? [ruleLine(8, this.#restSentences(fields, at))] : []),
    ];
  }

  #fieldName(fieldId: string): string {
    return bare(this.#fields.get(fieldId)?.name ?? fieldId);
  }

  #field({ mapping, name, type, values }: FieldSteps, at: string): Line[] {
    const { customFieldId } = mapping;
    const title: Line = ["  ", withId(this.#fieldName(customFieldId), customFieldId)];
    if (name === undefined) {
      const has = this.#given.has(customFieldId)
        ? "The values that the item has in it go nowhere there."
        : "The item has no value in it either.";
      return [BLANK, title, ruleLine(2, `The field has no mapping for ${at}. ${has}`)];
    }
    return [
      BLANK,
      title,
      ruleLine(2, mappingSentence(mapping, at)),
      ruleLine(3, this.#nameSentence(name, at)),
      ruleLine(4, typeSentence(type, this.#explanation.passthrough)),
      ...values.flatMap(({ input, entry }, index) => {
        const first = values.length === 1 ? "The item has" : "First the item has";
        return this.#value(input, entry, index === 0 ? first : "Then it has");
      }),
    ];
  }

  #nameSentence({ externalFieldName, entries, sharedBy, customFieldId }: NameStep, at: string): string {
    if (externalFieldName === null)
      return `The mapping has no field name, so that nothing can be sent under it.`;
    const entryWords = ["no entries", "one entry"][entries] ?? `${count(entries)} entries`;
    const others = sharedBy.filter((id) => id !== customFieldId).map((id) => this.#fieldName(id));
    const shared =
      others.length === 0
        ? ""
        : ` The field ${listed(others, "and")} has that name there too: a collision. Their values share one list.`;
    return `${at} calls it ${quoted(externalFieldName)}. The mapping has ${entryWords}.${shared}`;
  }

  #value(input: InputStep, entry: EntryStep | undefined, which: string): Line[] {
    if (entry === undefined) return [ruleLine(5, "The item has no value in this field.")];
    const since = this.#explanation.since?.get(placeKey(entry.row));
    return [
      ruleLine(5, `${which} ${readSentence(input, this.#fields.get(input.customFieldId))}`),
      ruleLine(6, entrySentence(entry, this.#explanation.passthrough)),
      ...(since === undefined ? [] : [["     ", sinceSentence(since)] as const]),
    ];
  }

  /** Of the fields that were asked for: the members under their names. */
  #payload(steps: readonly Step[], fields: readonly FieldSteps[], at: string): Line[] {
    const isAll = this.#told.fieldIds === undefined;
    const names = new Set(fields.map(({ name }) => name?.externalFieldName));
    const members = ofRule(steps, 7)
      .filter(({ externalFieldName }) => isAll || names.has(externalFieldName))
      .map(({ externalFieldName, values }) => [externalFieldName, values] as const);
    const nothing = `So ${at} receives nothing ${isAll ? "of this item" : "by this field"}.`;
    return [BLANK, ...payloadLines(members, `So ${at} receives:`, nothing, "  7  ")];
  }

  /** Every field was gone through; which of them had nothing to say. */
  #restSentences(fields: readonly FieldSteps[], at: string): string {
    const names = (some: readonly FieldSteps[]) =>
      listed(
        some.map(({ mapping }) => this.#fieldName(mapping.customFieldId)),
        "and",
      );
    const mapped = fields.filter(({ name }) => name !== undefined);
    const empty = mapped.filter(({ values }) => values.every(({ entry }) => entry === undefined));
    const elsewhere = fields.filter(
      ({ name, mapping }) => name === undefined && this.#given.has(mapping.customFieldId),
    );
    const sentences = [
      mapped.length === 1
        ? `That is the only field that ${at} has a mapping for.`
        : `That was done for each of the ${mapped.length} fields that ${at} has a mapping for.`,
      empty.length > 0 && `The item has no value in ${names(empty)}.`,
      elsewhere.length > 0 && `It has values in ${names(elsewhere)}, which ${at} has no mapping for.`,
    ];
    return sentences.filter((sentence) => sentence !== false).join(" ");
  }

  evidence({ document, lookups }: ItemExplanation["evidence"]): Line[] {
    const { ledger, payloads } = this.#explanation.mapped;
    const keepsNone =
      "The run keeps no raw document of the item, so that its values are those of content_custom_field_values.";
    const same = `The run published the same: ${counted(ledger.length, "row")} of content_mapped_values and ${counted(payloads.size, "payload")} for this item, compared with what the rules give.`;
    return [
      ["", "Where this was read"],
      ...(document === undefined ? [["  ", keepsNone] as const] : this.#document(document)),
      ...(lookups.length === 0 ? [] : [["  ", lookupsSentence(lookups)] as const]),
      ["  ", same],
    ];
  }

  #document({ mode, pass, page, position, request, sha256, file, parts }: DocumentEvidence): Line[] {
    const where =
      mode === "item"
        ? "was asked for singly"
        : `stood on page ${page} of the ${mode} listing, pass ${pass}, at position ${position}`;
    const answer =
      request === undefined
        ? "Which request that was is not recorded."
        : `That was request ${request.request}, answered ${shownInstant(request.observedAt)}; the response has the SHA-256 ${request.sha256}.`;
    const wanted = [...parts].filter(([id, part]) => part !== "null" && this.#isTold(id));
    const read =
      wanted.length === 0 ? "No field that is spoken of has a value there." : "There the rules read:";
    return [
      ["  ", `The item ${where}. ${answer}`],
      ["  ", `Its document is kept in ${file}, with the SHA-256 ${sha256}. ${read}`],
      ...wanted.map(([id, part]): Line => ["    ", `${bare(pointerTo(id))}  ${bare(part)}`]),
    ];
  }

  /** Fields that are spoken of: those that were asked for, else those that some destination maps. */
  #isTold(fieldId: string): boolean {
    const { destinationIds, fieldIds } = this.#told;
    if (fieldIds !== undefined) return fieldIds.includes(fieldId);
    const mappings = this.#fields.get(fieldId)?.mappings ?? [];
    return mappings.some(({ destinationId: id }) => id !== null && isWanted(destinationIds, id));
  }
}

function destinationSentence({ destinationId, identification, supportsMappings }: Destination): string {
  if (identification === null)
    return "This destination was not looked up: its ID stands in mappings, and its name is not known.";
  const supports =
    supportsMappings === null
      ? "Whether it supports custom field mappings is not known."
      : supportsMappings
        ? "It supports custom field mappings."
        : "It says that it supports no custom field mappings; they are followed all the same.";
  return `${bare(identification)} is the destination ${bare(destinationId)}. ${supports}`;
}

function fieldSteps(steps: readonly Step[], mapping: MappingStep): FieldSteps {
  const own = steps.filter((step) => "customFieldId" in step && step.customFieldId === mapping.customFieldId);
  const [name] = ofRule(own, 3);
  const [type] = ofRule(own, 4);
  const entries = ofRule(own, 6);
  const values = ofRule(own, 5).map((input) => ({
    input,
    entry: entries.find(({ ordinal }) => ordinal === input.ordinal),
  }));
  return { mapping, name, type, values };
}

function lookupsSentence(lookups: readonly RequestEvidence[]): string {
  const cameWith = (what: string, wanted: string) => {
    const numbers = lookups.filter(({ mode }) => mode === wanted).map(({ request }) => String(request));
    if (numbers.length === 0) return [];
    return [`${what} with ${numbers.length === 1 ? "request" : "requests"} ${listed(numbers, "and")}`];
  };
  const parts = [
    ...cameWith("The definitions and mappings came", "custom_fields"),
    ...cameWith("the destinations", "destinations"),
  ];
  return `${parts.join(", ")} of the same run; their SHA-256 stand in run_requests.`;
}
