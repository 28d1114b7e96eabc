/** What became of the definitions between two runs of a history, in words: why values are not what they were. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { all, type Row } from "../../storage/duckdb.ts";
import type { Cause } from "../../tables/history.ts";
import { loadSql } from "../load-sql.ts";

type Definition = Readonly<Record<string, string | number | boolean | null>>;

/** A definition that is not as it was, at one destination; null where there was none, or is none. */
export interface DefinitionChange {
  readonly kind: "destination" | "mapping" | "entry" | "field" | "value";
  readonly id: string;
  readonly customFieldId: string | null;
  readonly destinationId: string | null;
  readonly valueId: string | null;
  /** Text of the value that it is about. */
  readonly valueText: string | null;
  readonly before: Definition | null;
  readonly after: Definition | null;
}

/** Net changes from one run to a later one, by their sequence numbers; reads the tables of the history. */
export async function readDefinitionChanges(
  connection: DuckDBConnection,
  from: number,
  to: number,
): Promise<DefinitionChange[]> {
  const rows = await all(connection, loadSql("audit_diff_definitions"), [from, to]);
  return rows.map((row) => ({
    kind: kindOf(row.kind),
    id: String(row.id),
    customFieldId: text(row.custom_field_id),
    destinationId: text(row.destination_id),
    valueId: text(row.value_id),
    valueText: text(row.value_text),
    before: definitionOf(row.before),
    after: definitionOf(row.after),
  }));
}

const KINDS = ["destination", "mapping", "entry", "field", "value"] as const;

function kindOf(value: Row[string] | undefined): DefinitionChange["kind"] {
  const kind = KINDS.find((each) => each === value);
  if (kind === undefined) throw new TypeError(`there is no kind of definition ${String(value)}`);
  return kind;
}

function text(value: Row[string] | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

function definitionOf(value: Row[string] | undefined): Definition | null {
  if (typeof value !== "string") return null;
  const parsed: unknown = JSON.parse(value);
  if (typeof parsed !== "object" || parsed === null) return null;
  return Object.fromEntries(Object.entries(parsed));
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

/** Looks up, for a changed value, the changes of definitions that its causes speak of. */
export class DefinitionChanges {
  readonly #destinations = new Map<string, DefinitionChange[]>();
  readonly #mappings = new Map<string, DefinitionChange[]>();
  readonly #entries = new Map<string, DefinitionChange[]>();
  readonly #fields = new Map<string, DefinitionChange[]>();
  readonly #values = new Map<string, DefinitionChange[]>();

  constructor(changes: readonly DefinitionChange[]) {
    for (const change of changes) {
      const { kind, id, customFieldId, destinationId, valueId } = change;
      if (kind === "destination") add(this.#destinations, id, change);
      if (kind === "mapping") add(this.#mappings, key(destinationId), change);
      if (kind === "entry") {
        const values = new Set([valueId, change.before?.value_id ?? null, change.after?.value_id ?? null]);
        for (const value of values) add(this.#entries, key(destinationId, customFieldId, value), change);
      }
      if (kind === "field") add(this.#fields, id, change);
      if (kind === "value") add(this.#values, key(customFieldId, valueId), change);
    }
  }

  /** Sentences without a stop, in the order of the causes; empty where no definition is behind it. */
  why(value: ChangedValue): string[] {
    const found = value.causes.flatMap((cause) => this.#changesOf(cause, value));
    return [...new Set(found.map(definitionWords))];
  }

  #changesOf(cause: string, value: ChangedValue): DefinitionChange[] {
    const { destinationId, customFieldId, valueIds } = value;
    switch (cause as Cause) {
      case "destination_changed":
        return this.#destinations.get(destinationId) ?? [];
      case "mapping_changed":
        return [
          ...this.#mappingsOf(value),
          ...valueIds.flatMap((id) => this.#entries.get(key(destinationId, customFieldId, id)) ?? []),
        ];
      case "definition_changed":
        return [
          ...(this.#fields.get(customFieldId) ?? []),
          ...valueIds.flatMap((id) => this.#values.get(key(customFieldId, id)) ?? []),
        ];
      default:
        return [];
    }
  }

  /** The field's own mappings there; where none of them changed, those of others with its name: a collision. */
  #mappingsOf({ destinationId, customFieldId, valueIds, names }: ChangedValue): DefinitionChange[] {
    const there = this.#mappings.get(key(destinationId)) ?? [];
    const own = there.filter((change) => change.customFieldId === customFieldId);
    const entries = valueIds.flatMap((id) => this.#entries.get(key(destinationId, customFieldId, id)) ?? []);
    if (own.length > 0 || entries.length > 0) return own;
    return there.filter(({ before, after }) =>
      [before, after].some((each) => names.includes(String(each?.external_field_name ?? ""))),
    );
  }
}

function add(to: Map<string, DefinitionChange[]>, at: string, change: DefinitionChange): void {
  const known = to.get(at);
  if (known === undefined) to.set(at, [change]);
  else known.push(change);
}

function key(...parts: readonly (string | number | boolean | null)[]): string {
  return JSON.stringify(parts);
}

/** `mapping entry 99d2ad26 for "Nordics": "nordic" -> "north"`. */
export function definitionWords(change: DefinitionChange): string {
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

/** Whether it is no destination of the service, or one that only a mapping names. */
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
