/**
 * Reads and writes the mappings of a run as a CSV file for editing. Each entry is a row; a mapping without
 * entries has one row. The order of rows is the order of the service, which decides if several entries fit.
 *
 * `\N` is NULL; an empty `external_value` is the empty text. A text that a spreadsheet would read as a formula
 * is written with an apostrophe before it, which is removed again on reading.
 */

import { isUtf8 } from "node:buffer";
import type { DuckDBConnection } from "@duckdb/node-api";
import { invalidConfig, type WarehouseError } from "../../common/errors.ts";
import { nearestSentence } from "../../common/nearest.ts";
import { csvCell, FORMULA } from "../../common/printable.ts";
import { all, type QueryRow } from "../../storage/duckdb.ts";
import { loadSql } from "../queries.ts";

/** Columns of an export. */
const COLUMNS = [
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
type Column = (typeof COLUMNS)[number];

/** Columns for people, which `what-if` does not need. */
const OPTIONAL: readonly Column[] = ["custom_field", "destination", "value", "display"];
const ENTRY: readonly Column[] = ["mapping_value_id", "value_id", "external_value"];

export interface MappingRow {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly customFieldId: string;
  readonly destinationId: string | null;
  readonly mappingId: string;
  readonly externalFieldName: string | null;
  /** Cells for people that are not empty, by column. */
  readonly texts: ReadonlyMap<string, string>;
  /** Undefined for a mapping without entries. `id` is null for an added entry. */
  readonly entry:
    | Readonly<{ id: string | null; valueId: string | null; externalValue: string | null }>
    | undefined;
}

/** Writes all mappings of the run as CSV. */
export async function exportMapping(connection: DuckDBConnection): Promise<string> {
  const rows = await all(connection, loadSql("audit_export_mapping"));
  const lines = rows.map((row) => COLUMNS.map((name) => csvText(row, name)).join(","));
  return [COLUMNS.join(","), ...lines].map((line) => `${line}\n`).join("");
}

/** Texts that get an apostrophe or a backslash on writing; {@link plainText} removes it. */
const GUARDED = new RegExp(`^'*${FORMULA.source.slice(1)}`);
const NULL_LIKE = /^\\+N$/;

/** Empty for NULL in columns for people, and for the entry columns of a mapping without entries. */
function csvText(row: QueryRow, name: Column): string {
  if (row[name] === null) {
    const isEmpty = OPTIONAL.includes(name) || (ENTRY.includes(name) && row.mapping_value_id === null);
    return isEmpty ? "" : "\\N";
  }
  const value = String(row[name]);
  return csvCell(GUARDED.test(value) ? `'${value}` : NULL_LIKE.test(value) ? `\\${value}` : value);
}

function plainText(cell: string): string | null {
  if (cell === "\\N") return null;
  if (NULL_LIKE.test(cell) || (cell.startsWith("'") && GUARDED.test(cell))) return cell.slice(1);
  return cell;
}

type Position = Pick<MappingRow, "file" | "line">;

export function invalidMapping({ file, line }: Position, problem: string, column?: string): WarehouseError {
  return invalidConfig(
    `${file}, line ${line}${column === undefined ? "" : `, column ${column}`}: ${problem}`,
  );
}

/**
 * Parses a mapping file. Throws `config.invalid` with file, line and column if the file is not UTF-8 or CSV, if
 * a column or ID is missing or repeated, if a column is unknown, or if rows of one mapping differ.
 */
export function readMapping(bytes: Uint8Array, file: string): MappingRow[] {
  if (!isUtf8(bytes)) throw invalidConfig(`${file} is not UTF-8; save the file as "CSV UTF-8".`);
  const [header, ...body] = csvRows(new TextDecoder().decode(bytes), file);
  const names = header?.cells.map((name) => name.trim()) ?? [];
  while (names.at(-1) === "") names.pop();
  assertColumns(names, { file, line: header?.line ?? 1 });
  const rows = body.map(({ line, cells }) => {
    if (cells.length < names.length || cells.slice(names.length).some((cell) => cell !== ""))
      throw invalidMapping({ file, line }, `it has ${cells.length} cells instead of ${names.length}.`);
    return mappingRow(new Map(names.map((name, i) => [name, plainText(cells[i] ?? "")])), { file, line });
  });
  assertConsistent(rows);
  return rows;
}

function assertColumns(names: readonly string[], header: Position): void {
  for (const [i, name] of names.entries()) {
    if (names.indexOf(name) < i)
      throw invalidMapping(header, `the column ${name} appears twice; remove one.`);
    if (COLUMNS.some((known) => known === name)) continue;
    const near = nearestSentence(name, COLUMNS, "Leave it out.");
    throw invalidMapping(header, `there is no column ${JSON.stringify(name)} in a mapping file.${near}`);
  }
  const missing = COLUMNS.filter((name) => !OPTIONAL.includes(name) && !names.includes(name));
  if (missing.length === 0) return;
  const columns = missing.join(", ");
  throw invalidMapping(
    header,
    `without ${columns}; "audit --export-mapping" writes a file that has all columns.`,
  );
}

/** A row with an entry has the ID of the entry or of its value. */
function mappingRow(cells: ReadonlyMap<string, string | null>, at: Position): MappingRow {
  const value = (column: Column) => cells.get(column) ?? null;
  const needed = (column: Column, wayOut = ""): string => {
    const text = value(column);
    if (text !== null && text !== "") return text;
    throw invalidMapping(at, `it is missing${wayOut}.`, column);
  };
  const entry = {
    id: value("mapping_value_id") || null,
    valueId: value("value_id"),
    externalValue: value("external_value"),
  };
  const texts = new Map(
    OPTIONAL.map((column) => [column, value(column) ?? ""] as const).filter(([, text]) => text !== ""),
  );
  const isEntry = entry.id !== null || Boolean(entry.valueId);
  if (!isEntry && (entry.externalValue || texts.has("value") || texts.has("display")))
    needed("value_id", "; every external value needs one");
  return {
    ...at,
    customFieldId: needed("custom_field_id"),
    destinationId: value("destination_id"),
    mappingId: needed("mapping_id", "; copy that of the mapping, or for a new mapping choose an unused ID"),
    externalFieldName: value("external_field_name"),
    texts,
    entry: isEntry ? entry : undefined,
  };
}

function assertConsistent(rows: readonly MappingRow[]): void {
  const mappings = new Map<string, MappingRow>();
  const entries = new Map<string, MappingRow>();
  for (const row of rows) {
    const first = mappings.get(row.mappingId);
    if (first === undefined) mappings.set(row.mappingId, row);
    else assertSameMapping(row, first);
    if (first !== undefined && row.entry === undefined)
      throw invalidMapping(row, `it is missing; the mapping begins in line ${first.line}.`, "value_id");
    const id = row.entry?.id ?? null;
    if (id === null) continue;
    const before = entries.get(id);
    if (before !== undefined) {
      const problem = `${id} is in line ${before.line} already; leave the ID of an added entry empty.`;
      throw invalidMapping(row, problem, "mapping_value_id");
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
    const texts = `it is ${JSON.stringify(here)} here and ${JSON.stringify(there)} in line ${first.line}`;
    throw invalidMapping(row, `${texts}, in one mapping; change all of its rows.`, column);
  }
}

/**
 * Parses CSV; lines without text are skipped. Lines end with LF, CRLF or CR, and cells may be quoted. The separator is the
 * first of comma, semicolon and tab that is in the first line outside of quotes; such a line is skipped if it is `sep=;`.
 */
function* csvRows(
  text: string,
  file: string,
): Generator<{ readonly line: number; readonly cells: string[] }> {
  const [first = ""] = text.replace(/"[^"]*"/g, "").split(/[\r\n]/, 1);
  const separator = [",", ";", "\t"].find((each) => first.includes(each)) ?? ",";
  const quoted = '"([^"]*(?:""[^"]*)*)"';
  const plain = `((?!")[^${separator}\\r\\n]*)`;
  const cell = new RegExp(`(?:${quoted}|${plain})(${separator}|\\r\\n|\\r|\\n|$)`, "y");
  let line = 1;
  let row = { line, cells: [] as string[] };
  let end = separator;
  while (end === separator || cell.lastIndex < text.length) {
    const found = cell.exec(text);
    if (found === null) {
      const problem = "a quote is not closed, or text follows it; a quote inside a cell is written twice.";
      throw invalidMapping({ file, line }, problem);
    }
    row.cells.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? "");
    line += found[0].match(/\r\n|\r|\n/g)?.length ?? 0;
    end = found[3] ?? "";
    if (end === separator) continue;
    if (row.cells.some((text) => text !== "") && !(row.line === 1 && /^sep=[,;\t]$/.test(first))) yield row;
    row = { line, cells: [] };
  }
}
