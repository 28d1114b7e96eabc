/** What `explain` answers: what each destination receives of an item, what became of each value, and since when. */
import { type Answer, col, type RowOf, type Section, section } from "../../common/answer.ts";
import { minuteOf } from "../../common/figures.ts";
import { listed } from "../../common/nearest.ts";
import type { Destination } from "../mapping/definitions.ts";
import { type MappedValue, STATUSES } from "../mapping/mapped-value.ts";
import type { OpenedRun, Question } from "../open-run.ts";
import { DESTINATION, FIELD } from "./coverage.ts";
import { evidenceSection } from "./evidence.ts";
import { explainItem, type ItemExplanation, type ItemFacts } from "./explain.ts";
import { isWanted, type Outcome, outcomeText, stepsSection } from "./explain-steps.ts";
import { resolveScope, type Scope, type Scoped } from "./filters.ts";
import { type Since, sinceKey } from "./since.ts";

const PAYLOADS = {
  ...DESTINATION,
  external_field_name: col.text({ required: true, head: "external name" }),
  values: col.list({ required: true, head: "external values" }),
} as const;

const VALUES = {
  ...DESTINATION,
  ...FIELD,
  ordinal: col.count({ required: true, hidden: true }),
  value_id: col.text({ hidden: true }),
  value: col.text({ standIn: "value_id" }),
  archived: col.flag({ required: true, hidden: true }),
  status: col.text({ required: true, of: STATUSES }),
  external_field_name: col.text({ hidden: true }),
  external_value: col.text(),
  mapping_id: col.text({ hidden: true }),
  mapping_value_id: col.text({ hidden: true }),
  ambiguous: col.flag({ required: true, hidden: true }),
  collision: col.flag({ required: true, hidden: true }),
  /** Why it is sent, or not. */
  why: col.text({ required: true, dispensable: 1 }),
  /** The run with which it came to be so, and its start; null: the run has no history. */
  since: col.name({ hidden: true }),
  since_started_at: col.instant({ head: "since" }),
  /** What happened then. */
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
}: Scoped & {
  /** ID or slug of an item. */
  readonly item: string;
  /** Name or number of a run that is there; undefined: the current one. */
  readonly run?: string | undefined;
  /** Whether the answer also has the rules one by one, and where each thing was read. */
  readonly steps?: boolean | undefined;
}): Question {
  return {
    choose: async () => ({ wanted: run }),
    async answer(opened) {
      const scope = await resolveScope(opened.connection, { destination, field });
      return explainAnswer(opened, await explainItem(opened, item), { ...scope, steps });
    },
  };
}

/** Keys of the parts of the answer. */
export const EXPLAINED = ["payloads", "values", "without_mapping", "steps", "evidence"] as const;

export function explainAnswer(
  { run, manifest }: Pick<OpenedRun, "run" | "manifest">,
  explanation: ItemExplanation,
  { steps, ...scope }: Scope & { readonly steps: boolean },
): Answer {
  const { item, definitions, passthrough, evidence } = explanation;
  const { verdict } = manifest;
  const destinations = definitions.destinations.filter((each) =>
    isWanted(scope.destinationIds, each.destinationId),
  );
  const request = evidence.document?.request;
  const read =
    request === undefined
      ? ""
      : `, read with request ${request.request}, answered ${minute(request.observedAt)}`;
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
      })),
    },
    sections: [
      ...valueSections(explanation, destinations, scope),
      notMappedSection(explanation, scope),
      ...(steps ? [stepsSection(explanation, scope), evidenceSection(evidence)] : []),
    ],
    next: steps ? [] : ["--steps shows each rule, the entry and the document behind every value."],
  };
}

/** Characters of a title in a sentence: some lines of a screen. */
const TITLE_LENGTH = 240;

function itemText({ contentId, slug, title, contentType, updatedAt }: ItemFacts): string {
  const name = title ?? "An item without a title";
  const facts = [
    `item ${contentId}`,
    slug !== null && `slug ${slug}`,
    contentType !== null && `content type "${contentType}"`,
    updatedAt !== null && `last changed ${minute(updatedAt)}`,
  ].filter((fact) => fact !== false);
  const short = name.length > TITLE_LENGTH ? `${name.slice(0, TITLE_LENGTH - 1)}…` : name;
  return `${short}: ${facts.join(", ")}`;
}

function minute(iso: string): string {
  return `${minuteOf(new Date(iso))} UTC`;
}

function valueSections(
  { definitions, ledger, payloads, passthrough, since }: ItemExplanation,
  destinations: readonly Destination[],
  scope: Scope,
): Section[] {
  const names = new Map(destinations.map((each) => [each.destinationId, each.identification]));
  const fields = new Map(definitions.fields.map((field) => [field.customFieldId, field]));
  const wanted = ledger.filter(
    (row) => isWanted(scope.destinationIds, row.destinationId) && isWanted(scope.fieldIds, row.customFieldId),
  );
  const at = (id: string) => ({ destination_id: id, destination: names.get(id) ?? null });
  const byDestination = [...Map.groupBy(wanted, ({ destinationId }) => destinationId)];
  const sent = byDestination.map(([id, some]) => {
    const external = new Set(some.map(({ externalFieldName }) => externalFieldName));
    return { id, members: [...(payloads.get(id) ?? [])].filter(([name]) => external.has(name)) };
  });
  const without = sent.filter(({ members }) => members.length === 0);
  const receive = without.length === 1 ? "receives" : "receive";
  const of = scope.fieldIds === undefined ? "of this item" : "by this field";
  const who = without.map(({ id }) => names.get(id) ?? id);
  const nothing = without.length === 0 ? [] : [`${listed(who, "and")} ${receive} nothing ${of}.`];
  const lead = [...notesOf(destinations, definitions.destinations), ...nothing].join(" ");
  return [
    section({
      key: "payloads",
      title: "What destinations receive",
      ...(lead === "" ? {} : { lead }),
      none: whyNothing({ values: ledger.length, wanted: wanted.length }),
      columns: PAYLOADS,
      rows: sent.flatMap(({ id, members }) =>
        members.map(([name, texts]) => ({ ...at(id), external_field_name: name, values: texts })),
      ),
      limit: 1000,
    }),
    section({
      key: "values",
      title: "What became of each value",
      columns: VALUES,
      rows: wanted.map((row) => ({
        ...at(row.destinationId),
        custom_field_id: row.customFieldId,
        custom_field: fields.get(row.customFieldId)?.name ?? null,
        ordinal: row.ordinal,
        value_id: row.valueId,
        value: row.value,
        archived: row.valueArchived,
        status: row.status,
        external_field_name: row.externalFieldName,
        external_value: row.externalValue,
        mapping_id: row.mappingId,
        mapping_value_id: row.mappingValueId,
        ambiguous: row.ambiguous,
        collision: row.collision,
        why: whyOf(row, fields.get(row.customFieldId)?.fieldType ?? null, passthrough),
        ...sinceCells(since?.get(sinceKey(row))),
      })),
      limit: 1000,
    }),
  ];
}

function whyNothing({ values, wanted }: Readonly<Record<"values" | "wanted", number>>): string {
  if (wanted > 0) return "nothing";
  const unmapped = "no destination maps a field of which this item has a value";
  return values === 0 ? `nothing; ${unmapped}` : `nothing; of what was asked for, ${unmapped}`;
}

function sinceCells(
  since: Since | undefined,
): Pick<RowOf<typeof VALUES>, "since" | "since_started_at" | "cause"> {
  if (since === undefined) return { since: null, since_started_at: null, cause: null };
  const { run, startedAt, causes, begins, why } = since;
  const because = why.length === 0 ? "" : ` (${why.join("; ")})`;
  return {
    since: run,
    since_started_at: new Date(startedAt),
    cause: begins ? "the history begins" : `${causes.join(", ")}${because}`,
  };
}

/** Why a value is sent, or not. */
function whyOf(
  row: Outcome & Pick<MappedValue, "valueArchived">,
  fieldType: string | null,
  passthrough: boolean,
): string {
  const why = outcomeText(row, fieldType, passthrough);
  return row.valueArchived ? `${why}; the value is archived` : why;
}

const NOTHING = ", so it receives nothing; the table has what it would receive.";

/** A destination that is known by its ID alone receives nothing only where others have names. */
function notesOf(destinations: readonly Destination[], all: readonly Destination[]): string[] {
  const unsupported = destinations.filter(({ supportsMappings }) => supportsMappings === false);
  const isAsked = all.some(({ identification }) => identification !== null);
  const nameless = destinations.filter(({ identification }) => identification === null);
  return [
    ...unsupported.map(
      (each) => `${each.identification ?? each.destinationId} says that it supports no mappings${NOTHING}`,
    ),
    ...nameless.map(
      ({ destinationId }) => `The destination ${destinationId} was not looked up${isAsked ? NOTHING : "."}`,
    ),
  ];
}

/** Fields of which the item has values, and that a destination has no mapping for. */
function notMappedSection({ definitions, values }: ItemExplanation, scope: Scope): Section {
  const given = new Set(
    values.flatMap(({ customFieldId, input }) => (input === null ? [] : [customFieldId])),
  );
  const fields = definitions.fields.filter(
    ({ customFieldId }) => given.has(customFieldId) && isWanted(scope.fieldIds, customFieldId),
  );
  const rows = definitions.destinations
    .filter(({ destinationId }) => isWanted(scope.destinationIds, destinationId))
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
    title: "Fields with a value, and no mapping",
    none: "",
    columns: NOT_MAPPED,
    rows,
    limit: 1000,
  });
}
