/**
 * Reads and writes the mappings of a run as a CSV file for editing. Each entry is a row; a mapping without
 * entries has one row. The order of rows is the order of the service, which decides if several entries fit.
 *
 * `\N` is NULL; an empty `external_value` is the empty text. A text that a spreadsheet would read as a formula
 * is written with an apostrophe before it, which is removed again on reading.
 */

import { isUtf8 } from "node:buffer";
import type { DuckDBConnection } from "@duckdb/node-api";
import { csvCell, FORMULA } from "../../common/csv.ts";
import { invalidConfig, type WarehouseError } from "../../common/errors.ts";
import { nearestSentence } from "../../common/nearest.ts";
import { all, type QueryRow } from "../../storage/duckdb.ts";
import { loadSql } from "../queries.ts";

/** Columns of an export. */
const EXPORT_COLUMNS = [
  "custom_field_id",
  "custom_field",
  "destination_id",
  "destination",
  "mapping_id",
  "external_field_name",
  "mapping_value_id",
  "value_id",
  "value",
  "display",
  "external_value",
] as const;

const OPTIONAL_COLUMNS = ["custom_field", "destination", "value", "display"] as const;
type RequiredColumn = Exclude<(typeof EXPORT_COLUMNS)[number], (typeof OPTIONAL_COLUMNS)[number]>;

/** Columns that `what-if` needs. */
const REQUIRED_COLUMNS = EXPORT_COLUMNS.filter((name) => !OPTIONAL_COLUMNS.some((each) => each === name));

export interface MappingRow {
  readonly customFieldId: string;
  readonly destinationId: string | null;
  readonly mappingId: string;
  readonly externalFieldName: string | null;
  /** Undefined for a mapping without entries. `id` is null for an added entry. */
  readonly entry:
    | Readonly<{ id: string | null; valueId: string | null; externalValue: string | null }>
    | undefined;
  readonly placeOf: (column: RequiredColumn) => CellPosition;
}

/** Writes all mappings of the run as CSV. */
export async function exportMapping(connection: DuckDBConnection): Promise<string> {
  const rows = await all(connection, loadSql("audit_export_mapping"));
  const lines = rows.map((row) => EXPORT_COLUMNS.map((name) => csvText(row, name)).join(","));
  return [EXPORT_COLUMNS.join(","), ...lines].map((line) => `${line}\n`).join("");
}

const ENTRY_COLUMNS: ReadonlySet<string> = new Set(["mapping_value_id", "value_id", "external_value"]);

/** Texts that get an apostrophe or a backslash on writing; {@link plainText} removes it. */
const GUARDED = new RegExp(`^'*${FORMULA.source.slice(1)}`);
const NULL_LIKE = /^\\+N$/;

/** Empty for NULL in columns for people, and for the entry columns of a mapping without entries. */
function csvText(row: QueryRow, name: (typeof EXPORT_COLUMNS)[number]): string {
  if (row[name] === null) {
    const isAbsent = ENTRY_COLUMNS.has(name) && row.mapping_value_id === null;
    return REQUIRED_COLUMNS.includes(name) && !isAbsent ? "\\N" : "";
  }
  const value = String(row[name]);
  return csvCell(GUARDED.test(value) ? `'${value}` : NULL_LIKE.test(value) ? `\\${value}` : value);
}

function plainText(cell: string): string | null {
  if (cell === "\\N") return null;
  if (NULL_LIKE.test(cell) || (cell.startsWith("'") && GUARDED.test(cell))) return cell.slice(1);
  return cell;
}

/**
 * Parses a mapping file. Throws `config.invalid` with file, line and column if the file is not UTF-8 or CSV, if
 * a column or ID is missing or repeated, if a column is unknown, or if rows of one mapping differ.
 */
export function readMapping(bytes: Uint8Array, file: string): MappingRow[] {
  const text = new CsvText(bytes, file);
  if (text.isEmpty) {
    throw text.invalid(
      0,
      'the file is empty; "audit --export-mapping" writes one with all mappings of a run.',
    );
  }
  const rows = csvObjects(text).map((object) => mappingRow(object, text));
  assertConsistent(rows);
  return rows;
}

/** Cells of a row with their column names. `offset`: of the row. */
interface CsvRow {
  readonly members: readonly {
    readonly name: string;
    readonly value: string | null;
    readonly offset: number;
  }[];
  readonly offset: number;
}

function csvObjects(text: CsvText): CsvRow[] {
  const [header = [], ...body] = text.csv();
  const names = header.map(({ value }) => value.trim());
  const offset = header[0]?.offset ?? 0;
  assertColumns({ members: header.map((cell, i) => ({ ...cell, name: names[i] ?? "" })), offset }, text);
  return body.map((cells) => {
    if (cells.length !== names.length) {
      const last = cells[Math.min(cells.length, names.length + 1) - 1];
      const problem = `the row has ${cells.length} cells where the first line has ${names.length}.`;
      throw text.invalid(last?.offset ?? 0, problem);
    }
    const members = cells.map((cell, i) => ({ ...cell, name: names[i] ?? "", value: plainText(cell.value) }));
    return { members, offset: cells[0]?.offset ?? 0 };
  });
}

function assertColumns({ members, offset: start }: CsvRow, text: CsvText): void {
  const names = new Set<string>();
  for (const { name, offset } of members) {
    if (names.has(name)) throw text.invalid(offset, `the column ${name} appears twice; remove one.`);
    names.add(name);
    if (EXPORT_COLUMNS.some((known) => known === name)) continue;
    const near = nearestSentence(name, EXPORT_COLUMNS, "Leave it out.");
    throw text.invalid(offset, `there is no column ${JSON.stringify(name)} in a mapping file.${near}`);
  }
  const missing = REQUIRED_COLUMNS.filter((name) => !names.has(name));
  if (missing.length === 0) return;
  throw text.invalid(
    start,
    `the column ${missing.join(", ")} is missing; "audit --export-mapping" writes a file that has all.`,
  );
}

function mappingRow({ members, offset }: CsvRow, text: CsvText): MappingRow {
  const byName = new Map(members.map((member) => [member.name, member]));
  const placeOf = (column: RequiredColumn): CellPosition => text.place(byName.get(column)?.offset ?? offset);
  const value = (column: RequiredColumn): string | null => byName.get(column)?.value ?? null;
  const needed = (column: RequiredColumn, wayOut = ""): string => {
    const text = value(column);
    if (text !== null && text !== "") return text;
    throw mappingFileError(placeOf(column), `${column} is missing${wayOut}.`);
  };
  return {
    customFieldId: needed("custom_field_id"),
    destinationId: value("destination_id"),
    mappingId: needed("mapping_id", NEW_MAPPING),
    externalFieldName: value("external_field_name"),
    entry: entryOf(value, placeOf),
    placeOf,
  };
}

const NEW_MAPPING = "; copy that of the mapping, or for a new mapping choose an unused ID";

/** The entry of a row: it has an entry ID or a value ID. */
function entryOf(
  value: (column: RequiredColumn) => string | null,
  placeOf: (column: RequiredColumn) => CellPosition,
): MappingRow["entry"] {
  const id = value("mapping_value_id") || null;
  const valueId = value("value_id");
  const externalValue = value("external_value");
  if (id !== null || valueId) return { id, valueId, externalValue };
  if (!externalValue) return undefined;
  throw mappingFileError(placeOf("value_id"), "value_id is missing; every external value needs one.");
}

function assertConsistent(rows: readonly MappingRow[]): void {
  const mappings = new Map<string, MappingRow>();
  const entries = new Map<string, MappingRow>();
  for (const row of rows) {
    const first = mappings.get(row.mappingId);
    if (first === undefined) mappings.set(row.mappingId, row);
    else assertSameMapping(row, first);
    const id = row.entry?.id ?? null;
    if (id === null) continue;
    const before = entries.get(id);
    if (before !== undefined) {
      const { line } = before.placeOf("mapping_value_id");
      const problem = `the entry ${id} is in line ${line} already; leave the ID of an added entry empty.`;
      throw mappingFileError(row.placeOf("mapping_value_id"), problem);
    }
    entries.set(id, row);
  }
}

function assertSameMapping(row: MappingRow, first: MappingRow): void {
  for (const [column, here, there] of [
    ["custom_field_id", row.customFieldId, first.customFieldId],
    ["destination_id", row.destinationId, first.destinationId],
    ["external_field_name", row.externalFieldName, first.externalFieldName],
  ] as const) {
    if (here === there) continue;
    const { line } = first.placeOf(column);
    throw mappingFileError(
      row.placeOf(column),
      `${column} is ${JSON.stringify(here)} here and ${JSON.stringify(there)} in line ${line}, in one mapping; change all of its rows.`,
    );
  }
  if (row.entry !== undefined && first.entry !== undefined) return;
  const problem = `the mapping ${row.mappingId} has a row without an entry and other rows.`;
  throw mappingFileError(row.placeOf("mapping_id"), problem);
}

/** Line and column from 1. */
export interface CellPosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export function mappingFileError({ file, line, column }: CellPosition, problem: string): WarehouseError {
  return invalidConfig(`${file}, line ${line}, column ${column}: ${problem}`);
}

/** `offset`: of its first character in the file's text. */
interface CsvCell {
  readonly value: string;
  readonly offset: number;
}

/** A CSV file. All errors are `config.invalid` with file, line and column. */
export class CsvText {
  readonly #file: string;
  readonly #text: string;

  /** Throws if the bytes are not UTF-8. */
  constructor(bytes: Uint8Array, file: string) {
    this.#file = file;
    this.#text = new TextDecoder().decode(bytes);
    if (isUtf8(bytes)) return;
    const problem = 'this is not UTF-8; save the file as "CSV UTF-8".';
    throw this.invalid(this.#text.indexOf("\uFFFD"), problem);
  }

  get isEmpty(): boolean {
    return this.#text.trim() === "";
  }

  place(offset: number): CellPosition {
    const lines = this.#text.slice(0, offset).split(/\r\n|\r|\n/);
    return { file: this.#file, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
  }

  invalid(offset: number, problem: string): WarehouseError {
    return mappingFileError(this.place(offset), problem);
  }

  /**
   * Parses rows of cells; empty lines are skipped. Lines end with LF, CRLF or CR, and cells may be quoted. The
   * separator is the first of comma, semicolon and tab that is in the first line outside of quotes.
   */
  csv(): CsvCell[][] {
    const text = this.#text;
    const [first = ""] = text.replace(/"[^"]*"/g, "").split(/[\r\n]/, 1);
    const separator = [",", ";", "\t"].find((each) => first.includes(each)) ?? ",";
    const quoted = '"(?<quoted>[^"]*(?:""[^"]*)*)(?<closing>"?)';
    const plain = `(?<plain>[^${separator}\\r\\n]*)`;
    const cell = new RegExp(`(?:${quoted}|${plain})(?<end>${separator}|\\r\\n|\\r|\\n|)`, "y");
    const rows: CsvCell[][] = [];
    let row: CsvCell[] = [];
    let end: string | undefined;
    do {
      const offset = cell.lastIndex;
      const found = cell.exec(text)?.groups ?? {};
      end = found.end;
      if (found.closing === "") throw this.invalid(offset, "the quote that opens here is never closed.");
      if (end === "" && cell.lastIndex < text.length) {
        const problem = "there is text after a closing quote; a quote inside a cell is written twice.";
        throw this.invalid(cell.lastIndex, problem);
      }
      row.push({ value: found.quoted?.replaceAll('""', '"') ?? found.plain ?? "", offset });
      if (end === separator) continue;
      rows.push(row);
      row = [];
    } while (end === separator || cell.lastIndex < text.length);
    return rows.filter((cells) => cells.length > 1 || cells[0]?.value !== "");
  }
}
