/** An explanation as one would give it to a colleague. What comes from the service stands in quotes, made printable. */
import type { FieldDefinition } from "../../audit/mapping/definitions.ts";
import { placeKey } from "../../audit/mapping/mapped-value.ts";
import type { EntryStep, InputStep, MappingStep, NameStep, TypeStep } from "../../audit/mapping/procedure.ts";
import { type DocumentEvidence, pointerTo, type RequestEvidence } from "../../audit/questions/evidence.ts";
import type { ItemExplanation } from "../../audit/questions/explain.ts";
import { counted } from "../../common/figures.ts";
import { listed } from "../../common/nearest.ts";
import {
  bare,
  entryCount,
  entrySentence,
  mappingSentence,
  quoted,
  readSentence,
  shownInstant,
  sinceSentence,
  titleText,
  typeSentence,
} from "./explain-sentences.ts";
import { printableLine } from "./terminal.ts";
import { paragraph } from "./wrap.ts";

/** What of an explanation is told. */
export interface Told {
  readonly run: string;
  readonly verdict: "complete" | "unsettled";
  /** Undefined: all. */
  readonly destinationIds: readonly string[] | undefined;
  readonly fieldIds: readonly string[] | undefined;
}

/** Everything about one mapped field at one destination. */
interface FieldSteps {
  readonly mapping: MappingStep;
  name: NameStep | undefined;
  type: TypeStep | undefined;
  readonly values: { readonly input: InputStep; entry: EntryStep | undefined }[];
}

export function explanationText(explanation: ItemExplanation, told: Told, width: number | undefined): string {
  const writer = new Writer(explanation, told, width);
  return writer.text();
}

class Writer {
  readonly #explanation: ItemExplanation;
  readonly #told: Told;
  readonly #width: number | undefined;
  readonly #fields: ReadonlyMap<string, FieldDefinition>;

  constructor(explanation: ItemExplanation, told: Told, width: number | undefined) {
    this.#explanation = explanation;
    this.#told = told;
    this.#width = width;
    this.#fields = new Map(explanation.definitions.fields.map((field) => [field.customFieldId, field]));
  }

  text(): string {
    const { destinations } = this.#explanation.definitions;
    const parts = destinations
      .filter(({ destinationId }) => this.#told.destinationIds?.includes(destinationId) ?? true)
      .map(({ destinationId }) => this.#destination(destinationId))
      .filter((part) => part !== "");
    const none =
      parts.length === 0 ? this.#say("", "No destination maps a field of which this item has a value.") : "";
    return [this.#heading(), none, ...parts, this.#evidence()].filter((part) => part !== "").join("\n");
  }

  #say(lead: string, text: string): string {
    return paragraph(lead, text, this.#width);
  }

  /** A sentence with the number of its rule in the margin. */
  #rule(rule: number, text: string): string {
    return this.#say(`  ${rule}  `, text);
  }

  #heading(): string {
    const { contentId, slug, title, contentType, updatedAt } = this.#explanation.item;
    const { run, verdict } = this.#told;
    const facts = [
      `Item ${bare(contentId)}`,
      ...(slug === null ? [] : [`slug ${bare(slug)}`]),
      ...(contentType === null ? [] : [`content type ${quoted(contentType)}`]),
      ...(updatedAt === null ? [] : [`last changed ${shownInstant(updatedAt)}`]),
    ];
    return (
      this.#say("", titleText(title, this.#width)) +
      this.#say("", `${facts.join(", ")}.`) +
      this.#say(
        "",
        `This is what run ${run} published${verdict === "unsettled" ? ", which is unsettled" : ""}. The numbers are those of the mapping procedure's rules.`,
      )
    );
  }

  #destination(destinationId: string): string {
    const fields = this.#stepsAt(destinationId).filter(({ mapping }) =>
      this.#isWanted(mapping.customFieldId),
    );
    const mapped = fields.filter(({ name }) => name !== undefined);
    const given = mapped.filter(({ values }) => values.some(({ entry }) => entry !== undefined));
    const isAsked = this.#told.destinationIds !== undefined || this.#told.fieldIds !== undefined;
    if (given.length === 0 && !isAsked) return "";
    const asked = this.#told.fieldIds === undefined ? given : fields;
    return [
      this.#destinationLine(destinationId),
      ...asked.map((field) => this.#field(field, destinationId)),
      this.#payload(destinationId),
      this.#rest(destinationId, fields),
    ].join("");
  }

  #isWanted(fieldId: string): boolean {
    return this.#told.fieldIds?.includes(fieldId) ?? true;
  }

  #stepsAt(destinationId: string): FieldSteps[] {
    const fields: FieldSteps[] = [];
    for (const step of this.#explanation.mapped.steps) {
      if (step.destinationId !== destinationId) continue;
      const field = fields.at(-1);
      if (step.rule === 2) fields.push({ mapping: step, name: undefined, type: undefined, values: [] });
      else if (field === undefined) continue;
      else if (step.rule === 3) field.name = step;
      else if (step.rule === 4) field.type = step;
      else if (step.rule === 5) field.values.push({ input: step, entry: undefined });
      else if (step.rule === 6) {
        const value = field.values.at(-1);
        if (value !== undefined) value.entry = step;
      }
    }
    return fields;
  }

  #destinationName(destinationId: string): string {
    const destination = this.#explanation.definitions.destinations.find(
      (each) => each.destinationId === destinationId,
    );
    return bare(destination?.identification ?? destinationId);
  }

  #destinationLine(destinationId: string): string {
    const destination = this.#explanation.definitions.destinations.find(
      (each) => each.destinationId === destinationId,
    );
    const name = this.#destinationName(destinationId);
    if (destination?.identification === null || destination === undefined) {
      return (
        `${name}\n` +
        this.#rule(
          1,
          "This destination was not looked up: its ID stands in mappings, and its name is not known.",
        )
      );
    }
    const supports =
      destination.supportsMappings === false
        ? "It says that it supports no custom field mappings; they are followed all the same."
        : destination.supportsMappings === null
          ? "Whether it supports custom field mappings is not known."
          : "It supports custom field mappings.";
    return `${name}\n${this.#rule(1, `${name} is the destination ${bare(destinationId)}. ${supports}`)}`;
  }

  #fieldName(fieldId: string): string {
    return bare(this.#fields.get(fieldId)?.name ?? fieldId);
  }

  #field({ mapping, name, type, values }: FieldSteps, destinationId: string): string {
    const { customFieldId } = mapping;
    const own = this.#fieldName(customFieldId);
    const at = this.#destinationName(destinationId);
    const title = `\n  ${own}${own === bare(customFieldId) ? "" : ` (${bare(customFieldId)})`}\n`;
    if (name === undefined) {
      const has = this.#explanation.values.values.some(
        (value) => value.customFieldId === customFieldId && value.input !== null,
      );
      const values = has
        ? "The values that the item has in it go nowhere there."
        : "The item has no value in it either.";
      return title + this.#rule(2, `The field has no mapping for ${at}. ${values}`);
    }
    return [
      title,
      this.#rule(2, mappingSentence(mapping, at)),
      this.#rule(3, this.#nameSentence(name, at)),
      this.#rule(4, typeSentence(type, this.#explanation.passthrough)),
      ...values.map(({ input, entry }, index) => this.#value(input, entry, { index, of: values.length })),
    ].join("");
  }

  #nameSentence({ externalFieldName, entries, sharedBy, customFieldId }: NameStep, at: string): string {
    if (externalFieldName === null)
      return `The mapping has no field name, so that nothing can be sent under it.`;
    const others = sharedBy.filter((id) => id !== customFieldId).map((id) => this.#fieldName(id));
    const shared =
      others.length === 0
        ? ""
        : ` The field ${listed(others, "and")} has that name there too: a collision. Their values share one list.`;
    return `${at} calls it ${quoted(externalFieldName)}. The mapping has ${entryCount(entries)}.${shared}`;
  }

  #value(input: InputStep, entry: EntryStep | undefined, place: { index: number; of: number }): string {
    if (input.input === null || entry === undefined)
      return this.#rule(5, "The item has no value in this field.");
    const field = this.#fields.get(input.customFieldId);
    const which = place.of === 1 ? "The item has" : place.index === 0 ? "First the item has" : "Then it has";
    return (
      this.#rule(5, `${which} ${readSentence(input, field)}`) +
      this.#rule(6, entrySentence(entry, this.#explanation.passthrough)) +
      this.#since(entry)
    );
  }

  #since({ row }: EntryStep): string {
    const since = this.#explanation.since?.get(placeKey(row));
    return since === undefined ? "" : this.#say("     ", sinceSentence(since));
  }

  #payload(destinationId: string): string {
    const at = this.#destinationName(destinationId);
    const members = this.#explanation.mapped.steps.flatMap((step) =>
      step.rule === 7 && step.destinationId === destinationId ? [step] : [],
    );
    const names = this.#wantedNames(destinationId);
    const shown =
      names === undefined ? members : members.filter(({ externalFieldName }) => names.has(externalFieldName));
    if (shown.length === 0) {
      const what = names === undefined ? "of this item" : "by this field";
      return `\n${this.#rule(7, `So ${at} receives nothing ${what}.`)}`;
    }
    const lines = shown.map(({ externalFieldName, values }) =>
      this.#say(
        "       ",
        `${printableLine(JSON.stringify(externalFieldName))}: ${printableLine(JSON.stringify(values))}`,
      ),
    );
    return `\n${this.#rule(7, `So ${at} receives:`)}${lines.join("")}`;
  }

  /** External names of the fields that were asked for; undefined: all. */
  #wantedNames(destinationId: string): Set<string> | undefined {
    if (this.#told.fieldIds === undefined) return undefined;
    return new Set(
      this.#explanation.mapped.steps.flatMap((step) =>
        step.rule === 3 &&
        step.destinationId === destinationId &&
        this.#isWanted(step.customFieldId) &&
        step.externalFieldName !== null
          ? [step.externalFieldName]
          : [],
      ),
    );
  }

  /** Rule 8: every field was gone through; which of them had nothing to say. */
  #rest(destinationId: string, fields: readonly FieldSteps[]): string {
    if (this.#told.fieldIds !== undefined) return "";
    const at = this.#destinationName(destinationId);
    const names = (some: readonly FieldSteps[]) =>
      listed(
        some.map(({ mapping }) => this.#fieldName(mapping.customFieldId)),
        "and",
      );
    const mapped = fields.filter(({ name }) => name !== undefined);
    const empty = mapped.filter(({ values }) => values.every(({ entry }) => entry === undefined));
    const used = new Set(
      this.#explanation.values.values
        .filter(({ input }) => input !== null)
        .map((value) => value.customFieldId),
    );
    const elsewhere = fields.filter(
      ({ name, mapping }) => name === undefined && used.has(mapping.customFieldId),
    );
    return this.#rule(
      8,
      [
        mapped.length === 1
          ? `That is the only field that ${at} has a mapping for.`
          : `That was done for each of the ${mapped.length} fields that ${at} has a mapping for.`,
        ...(empty.length === 0 ? [] : [`The item has no value in ${names(empty)}.`]),
        ...(elsewhere.length === 0
          ? []
          : [`It has values in ${names(elsewhere)}, which ${at} has no mapping for.`]),
      ].join(" "),
    );
  }

  #evidence(): string {
    const { document, lookups } = this.#explanation.evidence;
    const { ledger, payloads } = this.#explanation.mapped;
    return [
      "Where this was read\n",
      document === undefined
        ? this.#say(
            "  ",
            "The run keeps no raw document of the item, so that its values are those of content_custom_field_values.",
          )
        : this.#document(document),
      this.#lookups(lookups),
      this.#say(
        "  ",
        `The run published the same: ${counted(ledger.length, "row")} of content_mapped_values and ${counted(payloads.length, "payload")} for this item, compared with what the rules give.`,
      ),
    ].join("");
  }

  #document(document: DocumentEvidence): string {
    const { mode, pass, page, position, request, sha256, file, parts } = document;
    const where =
      mode === "item"
        ? "was asked for singly"
        : `stood on page ${page} of the ${mode} listing, pass ${pass}, at position ${position}`;
    const answer =
      request === undefined
        ? "Which request that was is not recorded."
        : `That was request ${request.request}, answered ${shownInstant(request.observedAt)}; the response has the SHA-256 ${request.sha256}.`;
    const wanted = [...parts].filter(([id, part]) => part !== "null" && this.#isTold(id));
    return [
      this.#say("  ", `The item ${where}. ${answer}`),
      this.#say(
        "  ",
        `Its document is kept in ${file}, with the SHA-256 ${sha256}. ${
          wanted.length === 0 ? "No field that is spoken of has a value there." : "There the rules read:"
        }`,
      ),
      ...wanted.map(([id, part]) => this.#say("    ", `${bare(pointerTo(id))}  ${bare(part)}`)),
    ].join("");
  }

  /** Fields that are spoken of: those that were asked for, else those that some destination maps. */
  #isTold(fieldId: string): boolean {
    const mappings = this.#fields.get(fieldId)?.mappings ?? [];
    const { destinationIds } = this.#told;
    return this.#told.fieldIds === undefined
      ? mappings.some(
          ({ destinationId }) => destinationId !== null && (destinationIds?.includes(destinationId) ?? true),
        )
      : this.#isWanted(fieldId);
  }

  #lookups(lookups: readonly RequestEvidence[]): string {
    const of = (mode: string) =>
      lookups.filter((each) => each.mode === mode).map(({ request }) => String(request));
    const [fields, destinations] = [of("custom_fields"), of("destinations")];
    if (lookups.length === 0) return "";
    const requests = (numbers: readonly string[]) =>
      `${numbers.length === 1 ? "request" : "requests"} ${listed(numbers, "and")}`;
    const parts = [
      ...(fields.length === 0 ? [] : [`The definitions and mappings came with ${requests(fields)}`]),
      ...(destinations.length === 0 ? [] : [`the destinations with ${requests(destinations)}`]),
    ];
    return this.#say("  ", `${parts.join(", ")} of the same run; their SHA-256 stand in run_requests.`);
  }
}
