/** Compares the definitions of two runs of a history, and finds those behind a changed value. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { type AnswerRow, col, type Section, section } from "../../common/answer.ts";
import { joinWords } from "../../common/nearest.ts";
import { printableLine } from "../../common/printable.ts";
import { fillMarks, quoteIdentifier } from "../../storage/sql-text.ts";
import { readRows } from "../../storage/typed-rows.ts";
import type { Table } from "../../tables/declare.ts";
import {
  CAUSES,
  type Cause,
  DEFINITION_HISTORIES,
  definitionColumns,
  definitionKey,
} from "../../tables/history.ts";
import { createTempTable, loadSql } from "../queries.ts";
import { type AuditScope, isSelected } from "../scope.ts";
import { DESTINATION, FIELD, VALUE } from "./columns.ts";

const definition = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).nullable();
type DefinitionFields = z.output<typeof definition>;
type Property = NonNullable<DefinitionFields>[string] | undefined;

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
const NAMED_CHANGE = { ...CHANGE, destination: col.text(), customField: col.text() } as const;

type Changed<Row> = Omit<Row, "before" | "after"> & Readonly<Record<"before" | "after", DefinitionFields>>;
type DefinitionChange = Changed<AnswerRow<typeof CHANGE>>;

function withSides<Row extends Readonly<Record<"before" | "after", string | null>>>(row: Row): Changed<Row> {
  const parsed = (json: string | null) => definition.parse(JSON.parse(json ?? "null"));
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

/** Says why a value changed, in one clause. */
export type ReasonFinder = (value: ChangedValue) => string;

/** Causes without a definition behind them. */
const CAUSE_TEXTS: Readonly<Record<Cause, string>> = {
  first_seen: "the item is new",
  item_removed: "the item was removed",
  item_returned: "the item returned",
  item_changed: "the item was edited",
  destination_changed: "the destination changed",
  mapping_changed: "the mapping changed",
  collision_began: "another field is now sent under the same name",
  collision_ended: "no other field is sent under the same name any more",
  definition_changed: "the definition of the field changed",
  reordered: "the order of the values changed",
};

/** Causes as one clause. `reasonsOf`: what is known of each. */
export function causeText(
  causes: readonly string[],
  reasonsOf: (cause: Cause) => readonly string[] = () => [],
): string {
  const clauses = CAUSES.filter((cause) => causes.includes(cause)).flatMap((cause) => {
    const reasons = reasonsOf(cause);
    return reasons.length > 0 ? reasons : CAUSE_TEXTS[cause];
  });
  return joinWords([...new Set(clauses)], "and");
}

/**
 * Reads the net changes between two runs, by their sequence numbers, from the tables of the history, and creates the
 * temporary table `diff_definitions` of them.
 */
export async function readDefinitionChanges(
  connection: DuckDBConnection,
  from: number,
  to: number,
): Promise<ReasonFinder> {
  const sides = DEFINITION_HISTORIES.map(({ history }) => [history.name, sidesSql(history)] as const);
  const sql = fillMarks(loadSql("audit_diff_definitions"), Object.fromEntries(sides));
  await createTempTable(connection, "diff_definitions", sql, [from, to]);
  const changes = (await readRows(connection, CHANGE, "FROM diff_definitions")).map(withSides);
  const fields = await readRows(connection, FIELD_NAME, FIELD_NAMES);
  const nameOf = new Map(fields.map(({ custom_field_id, name }) => [custom_field_id, name]));
  const known = new Map<string, string>();
  return (value) => {
    const { causes, destinationId, customFieldId, valueIds, names } = value;
    const key = JSON.stringify([causes, destinationId, customFieldId, valueIds, names]);
    const reasonsOf = (cause: Cause) =>
      changesBehind(changes, cause, value).map((change) => {
        const field = nameOf.get(change.customFieldId ?? "") ?? change.customFieldId;
        const now = { collision_began: "now", collision_ended: "no longer" }[String(cause)];
        const name = names.find((each) => isNamed(change, each));
        return printableLine(
          now === undefined ? clauseOf(change) : `${field} is ${now} sent as ${quoted(name)}`,
        );
      });
    const found = known.get(key) ?? causeText(causes, reasonsOf);
    known.set(key, found);
    return found;
  };
}

const FIELD_NAME = { custom_field_id: col.text({ required: true }), name: col.text() } as const;
const FIELD_NAMES = `
  SELECT custom_field_id, arg_max(name, valid_from) AS name FROM custom_field_history GROUP BY custom_field_id`;

function isNamed({ before, after }: DefinitionChange, name: string): boolean {
  return [before, after].some((side) => side?.external_field_name === name);
}

function sidesSql(history: Table): string {
  const key = definitionKey(history);
  const listed = (names: readonly string[]) => names.map(quoteIdentifier).join(", ");
  return fillMarks(loadSql("audit_diff_definition_sides"), {
    history: quoteIdentifier(history.name),
    key: listed(key),
    definition: listed(definitionColumns(history).filter((name) => !key.includes(name))),
  });
}

function changesBehind(
  changes: readonly DefinitionChange[],
  cause: string,
  { destinationId, customFieldId, valueIds, names }: ChangedValue,
): DefinitionChange[] {
  const ofField = changes.filter((change) => change.customFieldId === customFieldId);
  // An entry may have gone from one value to another.
  const isOfValue = ({ valueId, before, after }: DefinitionChange) =>
    [valueId, before?.value_id, after?.value_id].some((id) => valueIds.some((each) => each === id));
  if (cause === "destination_changed")
    return changes.filter(({ kind, id }) => kind === "destination" && id === destinationId);
  if (cause === "definition_changed")
    return ofField.filter((each) => each.kind === "field" || (each.kind === "value" && isOfValue(each)));
  const there = changes.filter((each) => each.destinationId === destinationId);
  const isOwn = (each: DefinitionChange) => each.customFieldId === customFieldId;
  if (cause === "mapping_changed")
    return there.filter(
      (each) => isOwn(each) && (each.kind === "mapping" || (each.kind === "entry" && isOfValue(each))),
    );
  if (cause !== "collision_began" && cause !== "collision_ended") return [];
  return there.filter(
    (each) => each.kind === "mapping" && !isOwn(each) && names.some((name) => isNamed(each, name)),
  );
}

/** A change of one property of a definition. */
const DEFINITION_CHANGES = {
  kind: col.text({ required: true }),
  id: col.name({ required: true }),
  destination_id: col.name(),
  destination: DESTINATION.destination,
  custom_field_id: col.name(),
  custom_field: FIELD.custom_field,
  value_id: col.name(),
  value: VALUE.value,
  /** The changed property, or `added` or `removed`. */
  what: col.text({ required: true }),
  definition: col.text({ required: true, isWords: true }),
  before: col.text({ required: true }),
  after: col.text({ required: true }),
} as const;

/** Shows the rows of `diff_definitions`. Fields and select values belong to no destination. */
export async function definitionsSection(
  connection: DuckDBConnection,
  { cause, destinationIds, fieldIds }: AuditScope & { readonly cause: Cause | undefined },
): Promise<Section> {
  const changes = await readRows(connection, NAMED_CHANGE, loadSql("audit_diff_definitions_shown"));
  const shown = changes.filter(
    ({ kind, destinationId, customFieldId }) =>
      (cause === undefined || cause === KINDS[kind][2]) &&
      (destinationId === null || isSelected(destinationIds, destinationId)) &&
      (customFieldId === null || isSelected(fieldIds, customFieldId)),
  );
  const rows = shown.map(withSides).flatMap((row) => {
    const kind = KINDS[row.kind][0];
    const value = row.valueText ?? row.valueId;
    return partsOf(row).map((part) => ({
      kind,
      id: row.id,
      destination_id: row.destinationId,
      destination: row.destination,
      custom_field_id: row.customFieldId,
      custom_field: row.customField,
      value_id: row.valueId,
      value: row.valueText,
      ...part,
      definition: `${kind}${value === null ? "" : ` ${quoted(value)}`}: ${part.what}`,
    }));
  });
  return section({
    key: "definitions",
    none: "",
    title: "Changes of definitions",
    columns: DEFINITION_CHANGES,
    shows: ["definition", "destination", "custom_field", "before", "after"],
    rows,
  });
}

/** Name of each kind of definition, the property that identifies one that was added or removed, and the cause of its changes. */
const KINDS: Readonly<
  Record<DefinitionChange["kind"], readonly [called: string, member: string, cause: Cause]>
> = {
  destination: ["destination", "identification", "destination_changed"],
  mapping: ["mapping", "external_field_name", "mapping_changed"],
  entry: ["mapping entry", "external_value", "mapping_changed"],
  field: ["custom field", "name", "definition_changed"],
  value: ["select value", "value", "definition_changed"],
};

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
  receives: "receives values",
};

/** The properties that differ, or the presence of the definition. The position counts only if nothing else differs. */
function partsOf({ kind, before, after }: DefinitionChange) {
  const part = (what: string, name: string) => ({
    what,
    before: quoted(before?.[name]),
    after: quoted(after?.[name]),
  });
  if (before === null || after === null) return [part(before === null ? "added" : "removed", KINDS[kind][1])];
  const names = Object.keys(after).filter((name) => before[name] !== after[name]);
  const counting = names.length === 1 ? names : names.filter((name) => name !== "ordinal");
  return counting.map((name) => part(NAMES[name] ?? name, name));
}

/** A clause on what a field lost its external values by: `the entry for "Nordics" was removed`. */
export function removalText(kind: "mapping" | "entry", value: string | null): string {
  return `${kind === "mapping" ? "its mapping" : entryText(value)} was removed`;
}

function entryText(value: string | null): string {
  return `the entry for ${quoted(value)}`;
}

/** A clause of a sentence: `the external name "Dealers" became "Dealer Codes"`. */
function clauseOf(change: DefinitionChange): string {
  const { kind, id, valueId, valueText, before, after } = change;
  const [called, member] = KINDS[kind];
  const value = valueText ?? valueId;
  const own = (after ?? before)?.[member];
  const about = kind === "entry" && value !== null ? ` for ${quoted(value)}` : "";
  const subject = about === "" ? `the ${called} ${quoted(value ?? own ?? id)}` : entryText(value);
  if (before === null || after === null)
    return `${subject} was ${before === null ? "added" : "removed"}${about === "" ? "" : ` (${quoted(own)})`}`;
  const parts = partsOf(change);
  const [part] = parts;
  if (part !== undefined && parts.length === 1 && part.what.startsWith("external ")) {
    const { what, before: old, after: next } = part;
    if (next === NONE) return `the ${what} ${old}${about} was removed`;
    if (old === NONE) return `the ${what} ${next}${about} was added`;
    return `the ${what} ${old}${about} became ${next}`;
  }
  const differences = parts.map(({ what, ...side }) =>
    what === "order" ? "order changed" : `${what} ${side.before} -> ${side.after}`,
  );
  return `${subject} changed (${differences.join(", ")})`;
}

const NONE = "none";

function quoted(value: Property): string {
  if (value === null || value === undefined) return NONE;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}
