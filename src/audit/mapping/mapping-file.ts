/**
 * The mappings of a run as a file that a person edits: one row per entry, those of a mapping one after another, and one
 * row for a mapping without entries. The order of rows is the source's order, which decides where several fit.
 *
 * In CSV, `\N` is no value at all, and an empty cell of `external_value` is the empty text. A text that a spreadsheet
 * would take for a formula has an apostrophe before it, which reading takes off again.
 */

import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { csvCell, FORMULA } from "../../common/csv.ts";
import { WarehouseError } from "../../common/errors.ts";
import { suggestion } from "../../common/nearest.ts";
import { isObject } from "../../common/objects.ts";
import { all } from "../../storage/duckdb.ts";
import { loadSql } from "../load-sql.ts";
import { readCsv } from "./csv-cells.ts";
import { placeOf, placesIn } from "./json-places.ts";

export const MAPPING_FORMATS = ["csv", "json"] as const;
export type MappingFormat = (typeof MAPPING_FORMATS)[number];

/** What what-if reads; a file needs all of them. */
const READ = [
  "custom_field_id",
  "destination_id",
  "mapping_id",
  "external_field_name",
  "mapping_value_id",
  "value_id",
  "external_value",
] as const;
type ReadColumn = (typeof READ)[number];

/** Columns of an export: names and texts besides, for the person who reads it; they may be left out of a file. */
const WRITTEN = [
  "custom_field_id",
  "custom_field",
  "destination_id",
  "destination",
  "mapping_id",
  "external_field_name",
  "mapping_value_id",
  "value_id",
  "value",
  "external_value",
] as const;

export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A row of a file. */
export interface MappingRow {
  readonly customFieldId: string;
  readonly destinationId: string | null;
  readonly mappingId: string;
  readonly externalFieldName: string | null;
  /** Undefined: a mapping without entries. */
  readonly entry: EntryRow | undefined;
  readonly placeOf: (column: ReadColumn) => Place;
}

export interface EntryRow {
  /** NULL: an entry that a person added. */
  readonly id: string | null;
  readonly valueId: string | null;
  readonly externalValue: string | null;
}

/** What a person made of the mappings of a run. */
export interface EditedMapping {
  readonly rows: readonly MappingRow[];
  /** Name of the file, for what is wrong in it. */
  readonly file: string;
}

/** All mappings of the run, in the form of the file. */
export async function exportMapping(connection: DuckDBConnection, format: MappingFormat): Promise<string> {
  const rows = await all(connection, loadSql("audit_export_mapping"));
  const text = (value: DuckDBValue | undefined): string | null =>
    value === null || value === undefined ? null : String(value);
  const cells = rows.map((row) => WRITTEN.map((name) => [name, text(row[name])] as const));
  if (format === "json") {
    const lines = cells.map((row) => JSON.stringify(Object.fromEntries(row)));
    return lines.length === 0 ? "[]\n" : `[\n${lines.join(",\n")}\n]\n`;
  }
  const lines = cells.map((row) => {
    const isEntry = row.some(([name, value]) => name === "mapping_value_id" && value !== null);
    return row.map(([name, value]) => csvText(value, isEntry || !ENTRY_COLUMNS.has(name), name)).join(",");
  });
  return [WRITTEN.join(","), ...lines].map((line) => `${line}\r\n`).join("");
}

const ENTRY_COLUMNS: ReadonlySet<string> = new Set(["mapping_value_id", "value_id", "external_value"]);
const READ_COLUMNS: ReadonlySet<string> = new Set(READ);

/** Both are undone by {@link plainText}: one more apostrophe, one more backslash. */
const GUARDED = new RegExp(`^'*${FORMULA.source.slice(1)}`);
const NULL_LIKE = /^\\+N$/;

function csvText(value: string | null, hasNull: boolean, name: string): string {
  if (value === null) return hasNull && READ_COLUMNS.has(name) ? "\\N" : "";
  const guarded = GUARDED.test(value) ? `'${value}` : NULL_LIKE.test(value) ? `\\${value}` : value;
  return csvCell(guarded);
}

function plainText(cell: string): string | null {
  if (cell === "\\N") return null;
  if (NULL_LIKE.test(cell) || (cell.startsWith("'") && GUARDED.test(cell))) return cell.slice(1);
  return cell;
}

/**
 * Reads a file of bytes. Throws `config.invalid` with the file's name, line and column for a text that is not UTF-8,
 * CSV or JSON, a column that is missing, unknown or there twice, an ID that is missing or there twice, and rows of one
 * mapping that do not agree.
 */
export function readMapping(bytes: Uint8Array, file: string, format: MappingFormat): MappingRow[] {
  const text = decode(bytes, file);
  if (text.trim() === "") {
    const way = '"audit --export-mapping" writes one with all mappings of a run';
    throw invalidAt(file, { line: 1, column: 1 }, `the file is empty; ${way}.`);
  }
  const rows = format === "csv" ? csvRows(text, file) : jsonRows(text, file);
  const found = rows.map((row) => mappingRow(row, file));
  assertConsistent(found, file);
  return found;
}

export function invalidAt(file: string, { line, column }: Place, problem: string): WarehouseError {
  return new WarehouseError("config.invalid", `${file}, line ${line}, column ${column}: ${problem}`);
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    const upTo = firstBroken(bytes);
    const place = placeOf(new TextDecoder().decode(bytes.subarray(0, upTo)), Number.POSITIVE_INFINITY);
    throw new WarehouseError(
      "config.invalid",
      `${file}, line ${place.line}, column ${place.column}: this is not UTF-8; save the file as "CSV UTF-8" or as JSON.`,
      { cause },
    );
  }
}

/** How many bytes at the beginning are whole UTF-8 text. */
function firstBroken(bytes: Uint8Array): number {
  const shown = new TextDecoder().decode(bytes);
  const before = shown.slice(0, shown.indexOf("\uFFFD"));
  return new TextEncoder().encode(before).length;
}

interface RawRow {
  readonly values: ReadonlyMap<string, string | null>;
  readonly places: ReadonlyMap<string, Place>;
  /** Of the whole row. */
  readonly place: Place;
}

function csvRows(text: string, file: string): RawRow[] {
  const rows = readCsv(text);
  if (!Array.isArray(rows)) throw invalidAt(file, rows, `${rows.problem}.`);
  const [header = [], ...body] = rows;
  const names = header.map((cell) => cell.text.trim());
  for (const [index, name] of names.entries()) {
    const place = header[index] ?? { line: 1, column: 1 };
    assertColumn(name, place, file);
    if (names.indexOf(name) < index)
      throw invalidAt(file, place, `the column ${name} is there twice; keep one.`);
  }
  assertComplete(names, { line: header[0]?.line ?? 1, column: 1 }, file);
  return body.map((cells) => {
    const place = cells[0] ?? { line: 1, column: 1 };
    if (cells.length !== names.length) {
      const last = cells[Math.min(cells.length, names.length + 1) - 1] ?? place;
      throw invalidAt(
        file,
        last,
        `the row has ${cells.length} cells where the first line has ${names.length}.`,
      );
    }
    return {
      values: new Map(names.map((name, index) => [name, plainText(cells[index]?.text ?? "")])),
      places: new Map(names.map((name, index) => [name, cells[index] ?? place])),
      place,
    };
  });
}

function assertColumn(name: string, place: Place, file: string): void {
  if (WRITTEN.some((known) => known === name)) return;
  throw invalidAt(
    file,
    place,
    `there is no column ${JSON.stringify(name)} in a mapping file.${suggestion(name, WRITTEN, "Leave it out.")}`,
  );
}

function assertComplete(names: readonly string[], place: Place, file: string): void {
  const missing = READ.filter((name) => !names.includes(name));
  if (missing.length === 0) return;
  throw invalidAt(
    file,
    place,
    `the column ${missing.join(", ")} is missing; "audit --export-mapping" writes a file that has all.`,
  );
}

function jsonRows(text: string, file: string): RawRow[] {
  const parsed = parseJson(text, file);
  if (!Array.isArray(parsed))
    throw invalidAt(file, { line: 1, column: 1 }, "a mapping file is a list of objects.");
  const flat = parsed.every((row) => isObject(row) && Object.values(row).every((value) => !isNested(value)));
  const places = flat ? placesIn(text) : [];
  return parsed.map((row: unknown, index) => {
    const {
      start = { line: 1, column: 1 },
      members = new Map<string, Place>(),
      doubled,
    } = places[index] ?? {};
    if (!flat || !isObject(row)) {
      const broken = parsed.findIndex((each) => !isObject(each) || Object.values(each).some(isNested));
      throw invalidAt(file, { line: 1, column: 1 }, `element ${broken} of the list is no object of texts.`);
    }
    if (doubled !== undefined) {
      throw invalidAt(
        file,
        members.get(doubled) ?? start,
        `${doubled} is there twice in the object; keep one.`,
      );
    }
    const values = new Map<string, string | null>();
    for (const [name, value] of Object.entries(row)) {
      const place = members.get(name) ?? start;
      assertColumn(name, place, file);
      if (value !== null && typeof value !== "string") {
        throw invalidAt(
          file,
          place,
          `${name} is ${JSON.stringify(value)}; every value is a text in quotes, or null.`,
        );
      }
      values.set(name, value);
    }
    assertComplete([...values.keys()], start, file);
    return { values, places: members, place: start };
  });
}

function isNested(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const offset = /position (\d+)/.exec(message)?.[1];
    const place = placeOf(text, offset === undefined ? text.length : Number(offset));
    throw new WarehouseError(
      "config.invalid",
      `${file}, line ${place.line}, column ${place.column}: this is not JSON.`,
      { cause },
    );
  }
}

function mappingRow({ values, places, place }: RawRow, file: string): MappingRow {
  const at = (column: ReadColumn): Place => places.get(column) ?? place;
  const value = (column: ReadColumn): string | null => values.get(column) ?? null;
  const needed = (column: "custom_field_id" | "mapping_id"): string => {
    const text = value(column);
    if (text !== null && text !== "") return text;
    throw invalidAt(file, at(column), `${column} is missing${MISSING[column]}.`);
  };
  return {
    customFieldId: needed("custom_field_id"),
    destinationId: value("destination_id"),
    mappingId: needed("mapping_id"),
    externalFieldName: value("external_field_name"),
    entry: entryOf(value, at, file),
    placeOf: at,
  };
}

const MISSING = {
  custom_field_id: "",
  mapping_id: "; an entry has that of its mapping, and a new mapping takes any that no other has",
} as const;

/** A row with an entry ID, or with a value ID: an entry that a person adds needs no ID of its own. */
function entryOf(
  value: (column: ReadColumn) => string | null,
  at: (column: ReadColumn) => Place,
  file: string,
): MappingRow["entry"] {
  const id = value("mapping_value_id") ?? "";
  const valueId = value("value_id");
  const externalValue = value("external_value");
  if (id !== "") return { id, valueId, externalValue };
  if (valueId !== null && valueId !== "") return { id: null, valueId, externalValue };
  if (externalValue !== null && externalValue !== "") {
    throw invalidAt(file, at("value_id"), "value_id is missing; an external value belongs to one.");
  }
  return undefined;
}

function assertConsistent(rows: readonly MappingRow[], file: string): void {
  const mappings = new Map<string, MappingRow>();
  const entries = new Map<string, MappingRow>();
  for (const row of rows) {
    const first = mappings.get(row.mappingId);
    if (first === undefined) mappings.set(row.mappingId, row);
    else assertSameMapping(row, first, file);
    const id = row.entry?.id ?? null;
    if (id === null) continue;
    const before = entries.get(id);
    if (before !== undefined) {
      const { line } = before.placeOf("mapping_value_id");
      throw invalidAt(
        file,
        row.placeOf("mapping_value_id"),
        `the entry ${id} is in line ${line} already; leave the ID of an added entry empty.`,
      );
    }
    entries.set(id, row);
  }
}

function assertSameMapping(row: MappingRow, first: MappingRow, file: string): void {
  const compared: readonly (readonly [ReadColumn, string | null, string | null])[] = [
    ["custom_field_id", row.customFieldId, first.customFieldId],
    ["destination_id", row.destinationId, first.destinationId],
    ["external_field_name", row.externalFieldName, first.externalFieldName],
  ];
  const different = compared.find(([, here, there]) => here !== there);
  if (different === undefined) {
    if (row.entry !== undefined && first.entry !== undefined) return;
    throw invalidAt(
      file,
      row.placeOf("mapping_id"),
      `the mapping ${row.mappingId} has a row without an entry and another one besides.`,
    );
  }
  const [column, here, there] = different;
  const { line } = first.placeOf(column);
  throw invalidAt(
    file,
    row.placeOf(column),
    `${column} is ${JSON.stringify(here)} here and ${JSON.stringify(there)} in line ${line}, in one mapping; change all of its rows.`,
  );
}
