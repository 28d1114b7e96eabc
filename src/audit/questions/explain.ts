/** The answer of `explain`: what each destination receives of an item, and why. */
import { type Answer, type AnswerRow, col, type Section, section } from "../../common/answer.ts";
import { minuteOf } from "../../common/figures.ts";
import { printableLine } from "../../common/printable.ts";
import { quoteLiteral } from "../../storage/sql-text.ts";
import { runsIn } from "../../warehouse/layout.ts";
import type { Reception } from "../../warehouse/manifest.ts";
import { MAPPING_STATUSES } from "../mapped-value.ts";
import { DESTINATION, FIELD, RECEIVER, shortTitle, VALUE } from "../mapping/columns.ts";
import { RECEPTION_TEXT } from "../mapping/value-counts.ts";
import type { OpenedRun, RunQuestion, RunSelection } from "../open-run.ts";
import { type AuditScope, isSelected, resolveScope, type ScopeNames } from "../scope.ts";
import { evidenceSection } from "./evidence.ts";
import { explainItem, type ItemExplanation } from "./explain-facts.ts";
import { outcomeOf, stepsSection } from "./explain-steps.ts";
import { findPastItem } from "./find-item.ts";

const PAYLOADS = {
  ...RECEIVER,
  external_field_name: col.text({ required: true, head: "external name" }),
  values: col.list({ required: true, head: "external values" }),
} as const;

const VALUES = {
  ...RECEIVER,
  ...FIELD,
  ordinal: col.count({ required: true }),
  value_id: col.text(),
  ...VALUE,
  archived: col.flag({ required: true }),
  status: col.text({
    required: true,
    of: MAPPING_STATUSES,
    shown: ({ status, notes }) => [status, notes].filter((text) => text != null).join("; "),
  }),
  external_field_name: col.text(),
  external_value: col.text(),
  mapping_id: col.text(),
  mapping_value_id: col.text(),
  ambiguous: col.flag({ required: true }),
  matched_by_text: col.flag({ required: true }),
  collision: col.flag({ required: true }),
  /** What is unusual about the value, as `audit` counts it. */
  notes: col.text(),
  /** Why it is sent or not. */
  why: col.text({ required: true }),
  /** Run in which the value became so, and its start; null: the run has no history. */
  since: col.name(),
  since_started_at: col.instant(),
  cause: col.text({
    head: "since",
    shown: ({ since_started_at: since, cause }) =>
      since instanceof Date ? `${minuteOf(since)}: ${cause}` : null,
  }),
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
  /** ID, slug or title of an item. */
  readonly item: string;
  /** Name or number of a run; undefined: the current one. */
  readonly run?: string | undefined;
  /** Whether to add each rule and its evidence. */
  readonly steps?: boolean | undefined;
}): RunQuestion<RunSelection & { readonly kept: readonly string[] }> {
  return {
    choose: async (folder) => ({ wanted: run, kept: (await runsIn(folder)).map((each) => each.run) }),
    async answer(opened, { kept }) {
      const scope = await resolveScope(opened.connection, { destination, field });
      const past = await findPastItem(opened, item);
      if (past !== undefined) return pastAnswer(opened, item, past, kept);
      return explainAnswer(opened, await explainItem(opened, item), { ...scope, steps });
    },
  };
}

/** The answer for an item of an earlier run, with the command that shows it. `kept`: runs whose files are kept. */
function pastAnswer(
  { run }: OpenedRun,
  contentId: string,
  past: NonNullable<Awaited<ReturnType<typeof findPastItem>>>,
  kept: readonly string[],
): Answer {
  const { sentence, removedIn, lastRun, lastStartedAt } = past;
  const values = `FROM mapped_values_as_of('${lastStartedAt}') WHERE content_id = ${quoteLiteral(contentId)}`;
  const command = kept.includes(lastRun) ? `explain ${contentId} --run ${lastRun}` : `sql "${values}"`;
  return {
    lead: `${sentence}.`,
    facts: { run, item: { contentId }, removedIn, lastRun },
    sections: [],
    next: [`content-warehouse ${command}`],
    isNothing: true,
  };
}

export function explainAnswer(
  { run, manifest: { verdict } }: Pick<OpenedRun, "run" | "manifest">,
  explanation: ItemExplanation,
  { steps, ...scope }: AuditScope & { readonly steps: boolean },
): Answer {
  const { item, passthrough, evidence } = explanation;
  const targets = scopedDestinations(explanation, scope);
  const lines = byReception(targets).map((target) => destinationLine(explanation, target, scope));
  const unsettled = verdict === "complete" ? "" : `, which is ${verdict}`;
  return {
    lead: [...lines, `${itemText(item)}. Published by run ${run}${unsettled}.`].join("\n"),
    facts: {
      run,
      verdict,
      item: { ...item },
      passthrough,
      destinations: targets.map(({ cells: { reception }, supportsMappings, ...definition }) => ({
        destinationId: definition.destinationId,
        identification: definition.identification,
        lookedUp: definition.identification !== null,
        supportsMappings,
        reception,
      })),
    },
    sections: [
      payloadsSection(explanation, targets),
      valuesSection(explanation, targets),
      notMappedSection(explanation, targets, scope),
      ...(steps ? [stepsSection(explanation, scope), evidenceSection(evidence)] : []),
    ],
    next: steps ? [] : ["--steps shows each rule, the entry and the document behind every value."],
  };
}

type ScopedDestination = ReturnType<typeof scopedDestinations>[number];

/** The destinations in the scope, each with its cells and the item's mapped values in the scope. */
function scopedDestinations({ definitions, receptions, mappedValues }: ItemExplanation, scope: AuditScope) {
  return definitions.destinations
    .filter(({ destinationId }) => isSelected(scope.destinationIds, destinationId))
    .map((definition) => {
      const { destinationId, identification } = definition;
      const reception: Reception = receptions.get(destinationId) ?? "receiving";
      return {
        ...definition,
        cells: { destination_id: destinationId, destination: identification, reception },
        values: mappedValues.filter(
          (row) => row.destinationId === destinationId && isSelected(scope.fieldIds, row.customFieldId),
        ),
      };
    });
}

/** Destinations that receive values come first. */
function byReception(targets: readonly ScopedDestination[]): ScopedDestination[] {
  const isOther = ({ cells }: ScopedDestination) => Number(cells.reception !== "receiving");
  return targets.toSorted((a, b) => isOther(a) - isOther(b));
}

function itemText({ contentId, slug, title, contentType, updatedAt }: ItemExplanation["item"]): string {
  const name = title ?? "An item without a title";
  const facts = [
    `item ${contentId}`,
    slug !== null && `slug ${slug}`,
    contentType !== null && `content type "${contentType}"`,
    updatedAt !== null && `last edited ${minute(new Date(updatedAt))}`,
  ].filter((fact) => fact !== false);
  return `${shortTitle(name)}: ${facts.join(", ")}`;
}

function minute(instant: Date): string {
  return `${minuteOf(instant)} UTC`;
}

/** Members of a destination's payload, of the fields in the scope. */
function membersOf({ payloads }: ItemExplanation, { cells, values }: ScopedDestination) {
  const names = new Set(values.map(({ externalFieldName }) => externalFieldName));
  return payloads.filter(
    ({ destinationId, name }) => destinationId === cells.destination_id && names.has(name),
  );
}

/** `Web CMS: market "en-gb", product_family missing: no entry for "Care & Repair"`. */
function destinationLine(
  explanation: ItemExplanation,
  target: ScopedDestination,
  { fieldIds }: AuditScope,
): string {
  const { cells, values } = target;
  const name = printableLine(cells.destination ?? cells.destination_id);
  if (cells.reception !== "receiving") return `${name}: nothing (${RECEPTION_TEXT[cells.reception]})`;
  const sent = membersOf(explanation, target).map(
    (each) => `${each.name} ${each.values.map(quoted).join(", ")}`,
  );
  const missing = Map.groupBy(
    values.filter(
      ({ status, externalFieldName, externalValue }) =>
        status !== "no_value_mapping" && (externalFieldName === null || externalValue === null),
    ),
    (row) => `${row.externalFieldName ?? fieldName(explanation, row.customFieldId)} missing: ${lackOf(row)}`,
  );
  const lacks = [...missing].map(
    ([text, rows]) =>
      `${text} ${[...new Set(rows.map(({ value, valueId }) => quoted(value ?? valueId)))].join(", ")}`,
  );
  const [first] = fieldIds ?? [];
  const isGiven = explanation.values.some(({ customFieldId }) => customFieldId === first);
  const why = [
    values.length > 0 && "its values are of fields without value mappings",
    first === undefined && "none of the item's fields is mapped there",
    isGiven ? "the field is not mapped there" : "the item has no value of the field",
  ].find((each) => each !== false);
  const texts = [...sent, ...lacks];
  return `${name}: ${texts.length === 0 ? `nothing, because ${why}` : texts.join(", ")}`;
}

/** What a value lacks to be sent; the value follows. */
function lackOf({ status, externalFieldName }: ItemExplanation["mappedValues"][number]): string {
  if (status === "unmapped") return "no entry for";
  if (status === "unknown_value") return "the field has no value";
  return externalFieldName === null ? "no external name for" : "no external value for";
}

function fieldName({ definitions }: ItemExplanation, id: string): string {
  return definitions.fields.find(({ customFieldId }) => customFieldId === id)?.name ?? id;
}

function quoted(text: string | null): string {
  return JSON.stringify(printableLine(text ?? ""));
}

/** A screen has the same in the first lines. */
function payloadsSection(explanation: ItemExplanation, targets: readonly ScopedDestination[]): Section {
  return section({
    key: "payloads",
    title: "What destinations receive",
    none: "",
    columns: PAYLOADS,
    shows: ["destination", "external_field_name", "values"],
    isLines: true,
    rows: byReception(targets).flatMap((target) =>
      membersOf(explanation, target).map(({ name, values }) => {
        return { ...target.cells, external_field_name: name, values };
      }),
    ),
    limit: 0,
  });
}

function valuesSection(explanation: ItemExplanation, targets: readonly ScopedDestination[]): Section {
  const fields = new Map(explanation.definitions.fields.map((field) => [field.customFieldId, field]));
  const rows = byReception(targets).flatMap(({ cells, values }) =>
    values.map((row) => {
      const field = fields.get(row.customFieldId);
      return {
        ...cells,
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
        ...outcomeOf(explanation, row),
        ...sinceCells(explanation.sinceOf(row)),
      };
    }),
  );
  return section({
    key: "values",
    title: "Result for each value",
    columns: VALUES,
    shows: ["destination", "custom_field", "value", "status", "external_value", "cause"],
    isGrouped: true,
    rows,
    limit: 1000,
  });
}

function sinceCells(
  since: ReturnType<ItemExplanation["sinceOf"]>,
): Pick<AnswerRow<typeof VALUES>, "since" | "since_started_at" | "cause"> {
  if (since === undefined) return { since: null, since_started_at: null, cause: null };
  const { run, startedAt, begins, orderedAt, cause } = since;
  const ordered = orderedAt === null ? "" : `; order changed ${minute(orderedAt)}`;
  return {
    since: run,
    since_started_at: startedAt,
    cause: `${begins ? "the history begins" : cause}${ordered}`,
  };
}

/** Fields with values in the item that a destination has no mapping for. */
function notMappedSection(
  { definitions, values }: ItemExplanation,
  targets: readonly ScopedDestination[],
  { fieldIds }: AuditScope,
): Section {
  const given = new Set(values.filter(({ input }) => input !== null).map((each) => each.customFieldId));
  const fields = definitions.fields.filter(
    ({ customFieldId }) => given.has(customFieldId) && isSelected(fieldIds, customFieldId),
  );
  const rows = targets.map(({ cells }) => ({
    ...cells,
    fields: fields
      .filter(({ mappings }) => mappings.every((each) => each.destinationId !== cells.destination_id))
      .map(({ name, customFieldId }) => name ?? customFieldId),
  }));
  return section({
    key: "without_mapping",
    title: "Fields with a value but no mapping",
    none: "",
    columns: NOT_MAPPED,
    shows: ["destination", "fields"],
    rows: rows.filter((row) => row.fields.length > 0),
    limit: 1000,
  });
}
