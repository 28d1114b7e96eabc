/** The answer of `explain`: what each destination receives of an item, and why. */
import { type Answer, type AnswerRow, col, type Section, section } from "../../common/answer.ts";
import { minuteOf } from "../../common/figures.ts";
import { joinWords } from "../../common/nearest.ts";
import type { Reception } from "../../warehouse/manifest.ts";
import { MAPPING_STATUSES, type MappedValue } from "../mapped-value.ts";
import type { DestinationDefinition } from "../mapping/definitions.ts";
import { RECEPTION_TEXT } from "../mapping/value-counts.ts";
import type { OpenedRun, RunQuestion } from "../open-run.ts";
import { type AuditScope, resolveScope, type ScopeNames } from "../scope.ts";
import { DESTINATION, FIELD, RECEIVER, VALUE } from "./coverage.ts";
import { evidenceSection } from "./evidence.ts";
import { explainItem, type ItemExplanation, type ValueVersion, versionKey } from "./explain-facts.ts";
import { isSelected, notesOf, outcomeText, stepsSection } from "./explain-steps.ts";

const PAYLOADS = {
  ...RECEIVER,
  external_field_name: col.text({ required: true, head: "external name" }),
  values: col.list({ required: true, head: "external values" }),
} as const;

const VALUES = {
  ...RECEIVER,
  ...FIELD,
  ordinal: col.count({ required: true, hidden: true }),
  value_id: col.text({ hidden: true }),
  ...VALUE,
  archived: col.flag({ required: true, hidden: true }),
  status: col.text({ required: true, of: MAPPING_STATUSES }),
  external_field_name: col.text({ hidden: true }),
  external_value: col.text(),
  mapping_id: col.text({ hidden: true }),
  mapping_value_id: col.text({ hidden: true }),
  ambiguous: col.flag({ required: true, hidden: true }),
  matched_by_text: col.flag({ required: true, hidden: true }),
  collision: col.flag({ required: true, hidden: true }),
  /** What is unusual about the value, as `audit` counts it. */
  notes: col.text(),
  /** Why it is sent or not. */
  why: col.text({ required: true, dispensable: 1 }),
  /** Run in which the value became so, and its start; null: the run has no history. */
  since: col.name({ hidden: true }),
  since_started_at: col.instant({ head: "since" }),
  cause: col.text(),
} as const;

const NOT_MAPPED = {
  ...DESTINATION,
  fields: col.list({ required: true }),
} as const;

export function explainQuestion({
  item,
  destination,
  field,
  steps = false,
  run = "current",
}: ScopeNames & {
  /** ID or slug of an item. */
  readonly item: string;
  /** Name or number of a run; undefined: the current one. */
  readonly run?: string | undefined;
  /** Whether to add each rule and its evidence. */
  readonly steps?: boolean | undefined;
}): RunQuestion {
  return {
    choose: async () => ({ wanted: run }),
    async answer(opened) {
      const scope = await resolveScope(opened.connection, { destination, field });
      return explainAnswer(opened, await explainItem(opened, item), { ...scope, steps });
    },
  };
}

export const EXPLAIN_SECTIONS = ["payloads", "values", "without_mapping", "steps", "evidence"] as const;

export function explainAnswer(
  { run, manifest }: Pick<OpenedRun, "run" | "manifest">,
  explanation: ItemExplanation,
  { steps, ...scope }: AuditScope & { readonly steps: boolean },
): Answer {
  const { item, definitions, passthrough, evidence } = explanation;
  const { verdict } = manifest;
  const destinations = definitions.destinations.filter((each) =>
    isSelected(scope.destinationIds, each.destinationId),
  );
  const request = evidence.document?.request;
  const read =
    request === undefined
      ? ""
      : `, read with request ${request.request}, answered ${minute(request.answered)}`;
  return {
    lead: `${itemText(item)}. Published by run ${run}${verdict === "complete" ? "" : `, which is ${verdict}`}${read}.`,
    facts: {
      run,
      verdict,
      item: { ...item },
      passthrough,
      destinations: destinations.map(({ destinationId, identification, supportsMappings }) => ({
        destinationId,
        identification,
        lookedUp: identification !== null,
        supportsMappings,
        reception: receptionOf(explanation, destinationId),
      })),
    },
    sections: [
      payloadsSection(explanation, destinations, scope),
      valuesSection(explanation, scope),
      notMappedSection(explanation, scope),
      ...(steps ? [stepsSection(explanation, scope), evidenceSection(evidence)] : []),
    ],
    next: steps ? [] : ["--steps shows each rule, the entry and the document behind every value."],
  };
}

/** Characters of a title in a sentence. */
const TITLE_LENGTH = 240;

function itemText({ contentId, slug, title, contentType, updatedAt }: ItemExplanation["item"]): string {
  const name = title ?? "An item without a title";
  const facts = [
    `item ${contentId}`,
    slug !== null && `slug ${slug}`,
    contentType !== null && `content type "${contentType}"`,
    updatedAt !== null && `last edited ${minute(new Date(updatedAt))}`,
  ].filter((fact) => fact !== false);
  const short = name.length > TITLE_LENGTH ? `${name.slice(0, TITLE_LENGTH - 1)}…` : name;
  return `${short}: ${facts.join(", ")}`;
}

function minute(instant: Date): string {
  return `${minuteOf(instant)} UTC`;
}

/** Mapped values in the scope; destinations that receive values come first. */
function selectedValues(explanation: ItemExplanation, scope: AuditScope): MappedValue[] {
  const selected = explanation.mappedValues.filter(
    (row) =>
      isSelected(scope.destinationIds, row.destinationId) && isSelected(scope.fieldIds, row.customFieldId),
  );
  const isOther = ({ destinationId: id }: MappedValue) => receptionOf(explanation, id) !== "receiving";
  return selected.sort((a, b) => Number(isOther(a)) - Number(isOther(b)));
}

function payloadsSection(
  explanation: ItemExplanation,
  destinations: readonly DestinationDefinition[],
  scope: AuditScope,
): Section {
  const selected = Map.groupBy(selectedValues(explanation, scope), ({ destinationId }) => destinationId);
  const payloads = [...selected].map(([id, values]) => {
    const names = new Set(values.map(({ externalFieldName }) => externalFieldName));
    const sent = explanation.payloads.filter((each) => each.destinationId === id && names.has(each.name));
    return { cells: destinationCells(explanation, id), sent };
  });
  const empty = payloads.filter(({ cells, sent }) => sent.length === 0 && cells.reception === "receiving");
  const names = empty.map(({ cells }) => cells.destination ?? cells.destination_id);
  const what = scope.fieldIds === undefined ? "of this item" : "by this field";
  const others = destinations
    .map(({ destinationId }) => destinationCells(explanation, destinationId))
    .filter(({ reception }) => reception !== "receiving")
    .map((cells) => `${cells.destination ?? cells.destination_id} (${RECEPTION_TEXT[cells.reception]})`);
  const lead = [
    ...(names.length === 0
      ? []
      : [`${joinWords(names, "and")} ${names.length === 1 ? "receives" : "receive"} nothing ${what}.`]),
    ...(others.length === 0 ? [] : [`No values go to ${joinWords(others, "and")}.`]),
  ].join(" ");
  return section({
    key: "payloads",
    title: "What destinations receive",
    apart: "What others would get, if they received values",
    ...(lead === "" ? {} : { lead }),
    none:
      payloads.length > 0 ? "nothing" : "nothing; no destination maps a field of which this item has a value",
    columns: PAYLOADS,
    rows: payloads.flatMap(({ cells, sent }) =>
      sent.map(({ name, values }) => ({ ...cells, external_field_name: name, values })),
    ),
    limit: 1000,
  });
}

function destinationCells(explanation: ItemExplanation, id: string) {
  const found = explanation.definitions.destinations.find(({ destinationId }) => destinationId === id);
  const destination = found?.identification ?? null;
  return { destination_id: id, destination, reception: receptionOf(explanation, id) };
}

function valuesSection(explanation: ItemExplanation, scope: AuditScope): Section {
  const fields = new Map(explanation.definitions.fields.map((field) => [field.customFieldId, field]));
  const rows = selectedValues(explanation, scope).map((row) => {
    const field = fields.get(row.customFieldId);
    return {
      ...destinationCells(explanation, row.destinationId),
      custom_field_id: row.customFieldId,
      custom_field: field?.name ?? null,
      ordinal: row.ordinal,
      value_id: row.valueId,
      value: row.value,
      display: field?.selectValues.find(({ valueId }) => valueId === row.valueId)?.display ?? null,
      archived: row.valueArchived,
      status: row.status,
      external_field_name: row.externalFieldName,
      external_value: row.externalValue,
      mapping_id: row.mappingId,
      mapping_value_id: row.mappingValueId,
      ambiguous: row.ambiguous,
      matched_by_text: row.matchedByText,
      collision: row.collision,
      notes: notesOf(explanation, row).join("; ") || null,
      why: outcomeText(row, field?.fieldType ?? null, explanation.passthrough),
      ...sinceCells(explanation.since?.get(versionKey(row))),
    };
  });
  return section({
    key: "values",
    title: "Result for each value",
    apart: "Result at destinations that receive no values",
    columns: VALUES,
    rows,
    limit: 1000,
  });
}

function sinceCells(
  since: ValueVersion | undefined,
): Pick<AnswerRow<typeof VALUES>, "since" | "since_started_at" | "cause"> {
  if (since === undefined) return { since: null, since_started_at: null, cause: null };
  const { run, startedAt, causes, begins, orderedAt, why } = since;
  const because = why.length === 0 ? "" : ` (${why.join("; ")})`;
  const ordered = orderedAt === null ? "" : `; order changed ${minute(orderedAt)}`;
  return {
    since: run,
    since_started_at: startedAt,
    cause: `${begins ? "the history begins" : `${causes.join(", ")}${because}`}${ordered}`,
  };
}

function receptionOf({ receptions }: ItemExplanation, destinationId: string): Reception {
  return receptions.get(destinationId) ?? "nameless";
}

/** Fields with values in the item that a destination has no mapping for. */
function notMappedSection({ definitions, values }: ItemExplanation, scope: AuditScope): Section {
  const given = new Set(
    values.flatMap(({ customFieldId, input }) => (input === null ? [] : [customFieldId])),
  );
  const fields = definitions.fields.filter(
    ({ customFieldId }) => given.has(customFieldId) && isSelected(scope.fieldIds, customFieldId),
  );
  const rows = definitions.destinations
    .filter(({ destinationId }) => isSelected(scope.destinationIds, destinationId))
    .map(({ destinationId, identification }) => ({
      destination_id: destinationId,
      destination: identification,
      fields: fields
        .filter(({ mappings }) => mappings.every((mapping) => mapping.destinationId !== destinationId))
        .map(({ name, customFieldId }) => name ?? customFieldId),
    }))
    .filter((row) => row.fields.length > 0);
  return section({
    key: "without_mapping",
    title: "Fields with a value but no mapping",
    none: "",
    columns: NOT_MAPPED,
    rows,
    limit: 1000,
  });
}
