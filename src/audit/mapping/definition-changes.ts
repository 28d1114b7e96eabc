/** Compares the definitions of two runs of a history, and finds those behind a changed value. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { type AnswerRow, col } from "../../common/answer.ts";
import { DEFINITION_HISTORIES, definitionColumns, definitionKey } from "../../load/history-definitions.ts";
import { fillMarks, quoteIdentifier } from "../../storage/sql-text.ts";
import { readRows } from "../../storage/typed-rows.ts";
import type { Table } from "../../tables/declare.ts";
import { loadSql } from "../queries.ts";

const definition = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).nullable();
type DefinitionFields = NonNullable<z.output<typeof definition>>;

const CHANGE = {
  kind: col.text({ required: true, of: ["destination", "mapping", "entry", "field", "value"] }),
  id: col.text({ required: true }),
  customFieldId: col.text(),
  destinationId: col.text(),
  valueId: col.text(),
  /** Text of the select value that the change is about. */
  valueText: col.text(),
  /** JSON of the definition at one destination; null if it was absent. */
  before: col.text(),
  after: col.text(),
} as const;

type Changed<Row> = Omit<Row, "before" | "after"> & {
  readonly before: DefinitionFields | null;
  readonly after: DefinitionFields | null;
};
type DefinitionChange = Changed<AnswerRow<typeof CHANGE>>;

const NAMED_CHANGE = { ...CHANGE, destination: col.text(), customField: col.text() } as const;

function withSides<Row extends Readonly<Record<"before" | "after", string | null>>>(row: Row): Changed<Row> {
  const parsed = (json: string | null) => (json === null ? null : definition.parse(JSON.parse(json)));
  return { ...row, before: parsed(row.before), after: parsed(row.after) };
}

/** A changed value; null where one run does not have it. */
interface ChangedValue {
  readonly causes: readonly string[];
  readonly destinationId: string;
  readonly customFieldId: string;
  readonly valueIds: readonly string[];
  /** External field names, before and after. */
  readonly names: readonly string[];
}

/**
 * Finds the definitions behind a changed value. Returns phrases in the order of its causes, or none. `words`:
 * makes the phrase of a change; by default it includes the ID.
 */
export type ReasonFinder = (value: ChangedValue, words?: (change: DefinitionChange) => string) => string[];

/** Reads the net changes between two runs, by their sequence numbers, from the tables of the history. */
export async function readDefinitionChanges(
  connection: DuckDBConnection,
  from: number,
  to: number,
): Promise<ReasonFinder> {
  const changes = withoutShifts(
    (await readRows(connection, CHANGE, definitionsSql(), [from, to])).map(withSides),
  );
  const placed = changes.flatMap((change) => placesOf(change).map((place) => ({ place, change })));
  const byPlace = Map.groupBy(placed, ({ place }) => place);
  const at: ChangesAt = (...place) => (byPlace.get(JSON.stringify(place)) ?? []).map(({ change }) => change);
  return (value, words = definitionWords) => {
    const found = value.causes.flatMap((cause) => changesBehind(cause, value, at));
    return [...new Set(found.map(words))];
  };
}

/**
 * Removes changes of position that follow from other definitions being added or removed. A position is kept if
 * nothing else of the definition changed and the order of its neighbours did.
 */
function withoutShifts<C extends DefinitionChange>(changes: readonly C[]): C[] {
  const isBoth = ({ before, after }: C) => before !== null && after !== null;
  const ordinal = (side: "before" | "after") => (a: C, b: C) =>
    Number(a[side]?.ordinal ?? 0) - Number(b[side]?.ordinal ?? 0);
  const siblings = Map.groupBy(changes.filter(isBoth), ({ kind, customFieldId, destinationId }) =>
    JSON.stringify([kind, customFieldId, kind === "entry" && destinationId]),
  );
  const moved = new Set(
    [...siblings.values()].flatMap((some) => {
      const then = some.toSorted(ordinal("before"));
      return some.toSorted(ordinal("after")).filter((change, at) => change !== then[at]);
    }),
  );
  return changes.filter(
    (change) => !isBoth(change) || moved.has(change) || differingNames(change).join() !== "ordinal",
  );
}

type ChangesAt = (...place: readonly string[]) => DefinitionChange[];

function changesBehind(cause: string, value: ChangedValue, at: ChangesAt): DefinitionChange[] {
  const { destinationId, customFieldId, valueIds } = value;
  switch (cause) {
    case "destination_changed":
      return at("destination", destinationId);
    case "mapping_changed":
      return mappingsBehind(value, at);
    case "definition_changed":
      return [at("field", customFieldId), ...valueIds.map((id) => at("value", customFieldId, id))].flat();
    default:
      return [];
  }
}

/**
 * Mappings and entries of the field at the destination. If none changed, mappings of other fields with its
 * external name.
 */
function mappingsBehind(
  { destinationId, customFieldId, valueIds, names }: ChangedValue,
  at: ChangesAt,
): DefinitionChange[] {
  const there = at("mapping", destinationId);
  const own = there.filter((change) => change.customFieldId === customFieldId);
  const entries = valueIds.flatMap((id) => at("entry", destinationId, customFieldId, id));
  if (own.length > 0 || entries.length > 0) return [...own, ...entries];
  return there.filter(({ before, after }) =>
    [before, after].some((each) => names.includes(String(each?.external_field_name ?? ""))),
  );
}

/** A change of one property of a definition. */
export const DEFINITION_CHANGES = {
  kind: col.text({ required: true, hidden: true }),
  id: col.name({ required: true, hidden: true }),
  destination_id: col.name({ hidden: true }),
  destination: col.text({ standIn: "destination_id" }),
  custom_field_id: col.name({ hidden: true }),
  custom_field: col.text({ standIn: "custom_field_id", head: "field" }),
  value_id: col.name({ hidden: true }),
  value: col.text({ standIn: "value_id" }),
  /** The changed property, or `added` or `removed`. */
  what: col.text({ required: true, hidden: true }),
  definition: col.text({ required: true, isWords: true }),
  before: col.text({ required: true }),
  after: col.text({ required: true }),
} as const;

/** Reads the net changes between two runs that match `diff_filter`. */
export async function readDefinitionRows(
  connection: DuckDBConnection,
  from: number,
  to: number,
): Promise<AnswerRow<typeof DEFINITION_CHANGES>[]> {
  const sql = fillMarks(loadSql("audit_diff_definitions_shown"), { definitions: definitionsSql() });
  const rows = withoutShifts((await readRows(connection, NAMED_CHANGE, sql, [from, to])).map(withSides));
  return rows.flatMap((row) => {
    const { kind, id, valueId, valueText, destinationId, destination, customFieldId, customField } = row;
    const named = {
      kind: KINDS[kind][0],
      id,
      destination_id: destinationId,
      destination,
      custom_field_id: customFieldId,
      custom_field: customField,
      value_id: valueId,
      value: valueText,
    };
    return sidesOf(row).map((sides) => ({
      ...named,
      ...sides,
      definition: `${named.kind}: ${sides.what}`,
    }));
  });
}

function definitionsSql(): string {
  const sides = DEFINITION_HISTORIES.map(({ history }) => [history.name, sidesSql(history)] as const);
  return fillMarks(loadSql("audit_diff_definitions"), Object.fromEntries(sides));
}

function sidesSql(history: Table): string {
  const key = definitionKey(history);
  const definition = definitionColumns(history).filter((name) => !key.includes(name));
  const listed = (names: readonly string[]) => names.map(quoteIdentifier).join(", ");
  return fillMarks(loadSql("audit_diff_definition_sides"), {
    history: quoteIdentifier(history.name),
    key: listed(key),
    definition: listed(definition),
  });
}

/** Name of each kind of definition, and the property that identifies one that was added or removed. */
const KINDS: Readonly<Record<DefinitionChange["kind"], readonly [called: string, member: string]>> = {
  destination: ["destination", "identification"],
  mapping: ["mapping", "external_field_name"],
  entry: ["mapping entry", "external_value"],
  field: ["custom field", "name"],
  value: ["select value", "value"],
};

function sidesOf({ kind, before, after }: DefinitionChange) {
  const sides = (name: string) => ({
    before: quoted(before?.[name] ?? null),
    after: quoted(after?.[name] ?? null),
  });
  const presence = presenceOf({ kind, before, after });
  if (presence !== undefined) return [{ what: presence, ...sides(KINDS[kind][1]) }];
  return differingNames({ before, after }).map((name) => ({ what: NAMES[name] ?? name, ...sides(name) }));
}

/** Keys under which a change is found. An entry has one for its value before and one for its value after. */
function placesOf(change: DefinitionChange): string[] {
  const { kind, id, customFieldId, destinationId, valueId, before, after } = change;
  const place = (...parts: readonly unknown[]) => JSON.stringify([kind, ...parts]);
  switch (kind) {
    case "destination":
    case "field":
      return [place(id)];
    case "mapping":
      return [place(destinationId)];
    case "value":
      return [place(customFieldId, valueId)];
    case "entry": {
      const values = new Set([valueId, before?.value_id, after?.value_id]);
      return [...values].map((value) => place(destinationId, customFieldId, value));
    }
  }
}

/** `mapping entry 99d2ad26 for "Nordics": "nordic" -> "north"`. */
function definitionWords(change: DefinitionChange): string {
  const { before, after } = change;
  const what = subject(change);
  const presence = presenceOf(change);
  if (presence !== undefined) return `${what} ${presence}${ownText(change)}`;
  const parts = differingNames(change).map((name) =>
    difference(name, before?.[name] ?? null, after?.[name] ?? null),
  );
  return `${what}: ${parts.join(", ")}`;
}

/** A clause of a sentence: `the external name "Dealers" became "Dealer Codes"`. */
export function definitionClause(change: DefinitionChange): string {
  const { kind, valueText, before, after } = change;
  const what = ["mapping", "entry"].includes(kind) ? `the ${KINDS[kind][0]}` : subject(change);
  const about = kind === "entry" && valueText !== null ? ` for ${quoted(valueText)}` : "";
  const presence = presenceOf(change);
  const [name = "", ...others] = differingNames(change);
  if (presence !== undefined) {
    const isThere = presence === "added" || presence === "removed";
    return `${what}${about}${isThere ? ` was ${presence}${ownText(change)}` : ` is ${presence}`}`;
  }
  if (others.length > 0 || !["external_field_name", "external_value"].includes(name))
    return `${what}${about} changed (${definitionWords(change).split(": ").slice(1).join(": ")})`;
  return `the ${NAMES[name]} ${quoted(before?.[name] ?? null)}${about} became ${quoted(after?.[name] ?? null)}`;
}

/** Whether the definition was added, removed, or became known in another way; undefined if it is in both runs. */
function presenceOf({ kind, before, after }: Pick<DefinitionChange, "kind" | "before" | "after">) {
  if (before === null) return "added";
  if (after === null) return "removed";
  if (kind !== "destination") return undefined;
  return isUnnamed(before)
    ? "known by its name now"
    : isUnnamed(after)
      ? "known by its ID alone now"
      : undefined;
}

/** Properties that differ. The position counts only if it is the only one. */
function differingNames({ before, after }: Pick<DefinitionChange, "before" | "after">): string[] {
  const names = Object.keys(after ?? {}).filter((name) => before?.[name] !== after?.[name]);
  return names.length === 1 ? names : names.filter((name) => name !== "ordinal");
}

/** Whether only a mapping names the destination. */
function isUnnamed(destination: DefinitionFields): boolean {
  return destination.identification === null;
}

function subject({ kind, id, valueId, valueText, before, after }: DefinitionChange): string {
  const about = valueText ?? valueId;
  switch (kind) {
    case "destination":
      return `destination ${quoted(after?.identification ?? before?.identification ?? id)}`;
    case "mapping":
      return `mapping ${id}`;
    case "entry":
      return `mapping entry ${id}${about === null ? "" : ` for ${quoted(about)}`}`;
    case "field":
      return `custom field ${quoted(after?.name ?? before?.name ?? id)}`;
    case "value":
      return `select value ${quoted(valueText ?? id)}`;
  }
}

/** Value of a definition that was added or removed. */
function ownText({ kind, before, after }: DefinitionChange): string {
  const own = after ?? before ?? {};
  if (kind === "mapping") return ` (external name ${quoted(own.external_field_name ?? null)})`;
  if (kind === "entry") return ` (${quoted(own.external_value ?? null)})`;
  return "";
}

const NAMES: Readonly<Record<string, string>> = {
  external_field_name: "external name",
  external_value: "external value",
  value_id: "value",
  mapping_id: "mapping",
  custom_field_id: "custom field",
  destination_id: "destination",
  ordinal: "order",
  identification: "name",
  display_label: "label",
  field_type: "type",
  display: "shown as",
  value: "text",
  supports_custom_field_mappings: "supports custom field mappings",
};

function difference(name: string, before: DefinitionFields[string], after: DefinitionFields[string]): string {
  if (name === "external_value") return `${quoted(before)} -> ${quoted(after)}`;
  if (name === "ordinal") return "order changed";
  if (name === "archived" && before !== null && after !== null)
    return after ? "archived" : "no longer archived";
  return `${NAMES[name] ?? name} ${quoted(before)} -> ${quoted(after)}`;
}

function quoted(value: DefinitionFields[string]): string {
  if (value === null) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}
