/** What became of the definitions between two runs of a history, in words: why values are not what they were. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { col, type RowOf } from "../../common/answer.ts";
import { rowsBy } from "../../storage/rows-by.ts";
import { loadSql } from "../load-sql.ts";

const definition = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).nullable();
type Definition = NonNullable<z.output<typeof definition>>;

const CHANGE = {
  kind: col.text({ required: true, of: ["destination", "mapping", "entry", "field", "value"] }),
  id: col.text({ required: true }),
  customFieldId: col.text(),
  destinationId: col.text(),
  valueId: col.text(),
  /** Of the value that it is about. */
  valueText: col.text(),
  /** JSON of a definition at one destination; null where there was none, or is none. */
  before: col.text(),
  after: col.text(),
} as const;

interface DefinitionChange extends Omit<RowOf<typeof CHANGE>, "before" | "after"> {
  readonly before: Definition | null;
  readonly after: Definition | null;
}

function parsed(json: string | null): Definition | null {
  return json === null ? null : definition.parse(JSON.parse(json));
}

/** A changed value, by what it was and is; null where a side has none. */
export interface ChangedValue {
  readonly causes: readonly string[];
  readonly destinationId: string;
  readonly customFieldId: string;
  readonly valueIds: readonly string[];
  /** External field names, before and after. */
  readonly names: readonly string[];
}

/**
 * The definitions behind a changed value, by its causes: sentences without a stop, in the order of the causes; empty
 * where no definition is behind it.
 */
export type Why = (value: ChangedValue) => string[];

/** Net changes from one run to a later one, by their sequence numbers; reads the tables of the history. */
export async function readDefinitionChanges(
  connection: DuckDBConnection,
  from: number,
  to: number,
): Promise<Why> {
  const rows = await rowsBy(connection, CHANGE, loadSql("audit_diff_definitions"), [from, to]);
  const changes = rows.map((row) => ({ ...row, before: parsed(row.before), after: parsed(row.after) }));
  const placed = changes.flatMap((change) => placesOf(change).map((place) => ({ place, change })));
  const byPlace = Map.groupBy(placed, ({ place }) => place);
  const at: ChangesAt = (...place) => (byPlace.get(JSON.stringify(place)) ?? []).map(({ change }) => change);
  return (value) => {
    const found = value.causes.flatMap((cause) => changesBehind(cause, value, at));
    return [...new Set(found.map(definitionWords))];
  };
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

/** The field's own mappings and entries there; where none of them changed, the mappings of others with its name. */
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

/** Where a change is looked up; an entry by its value before and after. */
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
  if (change.kind === "destination" && isUnnamed(before)) return `${what} added`;
  if (change.kind === "destination" && isUnnamed(after)) return `${what} removed`;
  if (before === null) return `${what} added${after === null ? "" : ownText(change, after)}`;
  if (after === null) return `${what} removed${ownText(change, before)}`;
  const parts = Object.keys(after)
    .filter((name) => before[name] !== after[name])
    .map((name) => difference(name, before[name] ?? null, after[name] ?? null));
  return `${what}: ${parts.join(", ")}`;
}

/** Whether the service does not have the destination, so that at most a mapping names it. */
function isUnnamed(destination: Definition | null): boolean {
  return destination === null || Object.values(destination).every((member) => member === null);
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

/** What a definition says that came or went. */
function ownText({ kind }: DefinitionChange, definition: Definition): string {
  if (kind === "mapping") return ` (external name ${quoted(definition.external_field_name ?? null)})`;
  if (kind === "entry") return ` (${quoted(definition.external_value ?? null)})`;
  return "";
}

type Member = Definition[string];

const NAMES: Readonly<Record<string, string>> = {
  external_field_name: "external name",
  value_id: "value",
  mapping_id: "mapping",
  custom_field_id: "custom field",
  destination_id: "destination",
  ordinal: "place",
  identification: "name",
  display_label: "label",
  field_type: "type",
  display: "shown as",
  value: "text",
  supports_custom_field_mappings: "supports custom field mappings",
};

function difference(name: string, before: Member, after: Member): string {
  if (name === "external_value") return `${quoted(before)} -> ${quoted(after)}`;
  if (name === "archived") return after === true ? "archived" : "no longer archived";
  return `${NAMES[name] ?? name} ${quoted(before)} -> ${quoted(after)}`;
}

function quoted(value: Member): string {
  if (value === null) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}
