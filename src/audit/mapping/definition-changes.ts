/** Compares the definitions of two runs of a history, and finds those behind a changed value. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { type AnswerRow, col, type Section, section } from "../../common/answer.ts";
import { fillMarks, quoteIdentifier } from "../../storage/sql-text.ts";
import { readRows } from "../../storage/typed-rows.ts";
import type { Table } from "../../tables/declare.ts";
import { DEFINITION_HISTORIES, definitionColumns, definitionKey } from "../../tables/history.ts";
import { createTempTable, loadSql } from "../queries.ts";

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

/** Finds the definitions behind a changed value. Returns clauses in the order of its causes, or none. */
export type ReasonFinder = (value: ChangedValue) => string[];

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
  const known = new Map<string, string[]>();
  return (value) => {
    const { causes, destinationId, customFieldId, valueIds, names } = value;
    const key = JSON.stringify([causes, destinationId, customFieldId, valueIds, names]);
    const found =
      known.get(key) ?? causes.flatMap((cause) => changesBehind(changes, cause, value).map(clauseOf));
    known.set(key, found);
    return [...new Set(found)];
  };
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
  if (cause !== "mapping_changed") return [];
  const own = ofField.filter(
    (each) =>
      each.destinationId === destinationId &&
      (each.kind === "mapping" || (each.kind === "entry" && isOfValue(each))),
  );
  if (own.length > 0) return own;
  // Mappings of other fields with its external name.
  return changes.filter(
    (each) =>
      each.kind === "mapping" &&
      each.destinationId === destinationId &&
      [each.before, each.after].some((side) => names.includes(String(side?.external_field_name ?? ""))),
  );
}

/** A change of one property of a definition. */
const DEFINITION_CHANGES = {
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

/** Shows the rows of `diff_definitions` that match `diff_filter`. */
export async function definitionsSection(connection: DuckDBConnection): Promise<Section> {
  const changes = await readRows(connection, NAMED_CHANGE, loadSql("audit_diff_definitions_shown"));
  const rows = changes.map(withSides).flatMap((row) => {
    const kind = KINDS[row.kind][0];
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
      definition: `${kind}: ${part.what}`,
    }));
  });
  return section({
    key: "definitions",
    none: "",
    title: "Changes of definitions",
    columns: DEFINITION_CHANGES,
    rows,
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

/** A clause of a sentence: `the external name "Dealers" became "Dealer Codes"`. */
function clauseOf(change: DefinitionChange): string {
  const { kind, id, valueId, valueText, before, after } = change;
  const [called, member] = KINDS[kind];
  const value = valueText ?? valueId;
  const about = kind === "entry" && value !== null ? ` for ${quoted(value)}` : "";
  const own = quoted((after ?? before)?.[member]);
  const isMapping = kind === "mapping" || kind === "entry";
  const subject = isMapping
    ? `${called} ${id}${about}`
    : `${called} ${quoted(value ?? after?.[member] ?? id)}`;
  if (before === null || after === null)
    return `${subject} was ${before === null ? "added" : "removed"}${isMapping ? ` (${own})` : ""}`;
  const parts = partsOf(change);
  const [part] = parts;
  if (part !== undefined && parts.length === 1 && part.what.startsWith("external "))
    return `the ${part.what} ${part.before}${about} became ${part.after}`;
  const differences = parts.map(({ what, ...side }) =>
    what === "order" ? "order changed" : `${what} ${side.before} -> ${side.after}`,
  );
  return `${subject} changed (${differences.join(", ")})`;
}

function quoted(value: Property): string {
  if (value === null || value === undefined) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}
