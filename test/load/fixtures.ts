import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { removeTree } from "../../src/common/tree.ts";
import { compareUtf8 } from "../../src/common/utf8-order.ts";
import { type Database, openForBuilding } from "../../src/storage/database.ts";
import type { StagedPart } from "../../src/storage/parquet-file.ts";
import { type Column, type ColumnType, column as declared, type Table } from "../../src/tables/declare.ts";

/** A name that trips whoever forgets to quote. */
export const HOSTILE_NAME = `it's a "t*st" ü`;

export async function temporaryFolder(t: TestContext, name = HOSTILE_NAME): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), "warehouse-"));
  t.after(() => removeTree(base));
  const folder = join(base, name);
  await mkdir(folder);
  return folder;
}

export function column(name: string, type: ColumnType, nullable = true): Column {
  return declared(name, type, { comment: `What ${name} says; it's "quoted".`, required: !nullable });
}

export function table(
  name: string,
  stage: Table["stage"],
  key: readonly string[],
  columns: readonly Column[],
): Table {
  const comment = `Rows of ${name}; it's "quoted".`;
  return { name, comment, stage, key, columns, references: [], rows: { kind: "program" } };
}

export const TAGS = table(
  "content_tags",
  "item",
  ["content_id", "ordinal"],
  [column("content_id", "text", false), column("ordinal", "integer", false), column("tag", "text")],
);

/** Every column type once. */
export const TYPES = table(
  "types",
  "shared",
  ["id"],
  [
    column("id", "text", false),
    column("boolean", "boolean"),
    column("integer", "integer"),
    column("bigint", "bigint"),
    column("double", "double"),
    column("timestamp", "timestamp"),
    column("date", "date"),
    column("json", "json"),
  ],
);

export async function build(staging: string): Promise<Database> {
  return openForBuilding({
    file: join(staging, "warehouse.duckdb"),
    staging,
    temporaryDirectory: join(staging, "tmp"),
    memoryLimitMb: 256,
    previous: undefined,
  });
}

/** Writes a staged part from a SELECT; the first column is its key. */
export async function stagePart(file: string, select: string): Promise<StagedPart> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  try {
    await connection.run(`CREATE TABLE part AS ${select}`);
    await connection.run(`COPY part TO '${file.replaceAll("'", "''")}' (FORMAT parquet)`);
    const keys = (await connection.runAndReadAll("SELECT * FROM part"))
      .getRows()
      .map((row) => String(row[0]));
    const sorted = keys.toSorted(compareUtf8);
    return {
      file,
      rows: keys.length,
      firstKey: sorted.at(0) ?? "",
      lastKey: sorted.at(-1) ?? "",
    };
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

export interface Tag {
  readonly content_id: string;
  readonly ordinal: number;
  readonly tag: string | null;
}

/** A staged part of TAGS. */
export async function stageTags(file: string, tags: readonly Tag[]): Promise<StagedPart> {
  const literal = (text: string | null) => (text === null ? "NULL" : `'${text.replaceAll("'", "''")}'`);
  const rows = tags.map((row) => `(${literal(row.content_id)}, ${row.ordinal}, ${literal(row.tag)})`);
  const types = "content_id::VARCHAR AS content_id, ordinal::INTEGER AS ordinal, tag::VARCHAR AS tag";
  const source =
    rows.length === 0
      ? "(SELECT NULL, NULL, NULL WHERE false) r(content_id, ordinal, tag)"
      : `(VALUES ${rows.join(", ")}) r(content_id, ordinal, tag)`;
  return stagePart(file, `SELECT ${types} FROM ${source}`);
}
