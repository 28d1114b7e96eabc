import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { isRunTable } from "../../src/tables/all.ts";
import type { Column, Table } from "../../src/tables/declare.ts";

/** A published warehouse as an analyst opens it. Names are those of the declarations: none needs care in SQL. */
export class Warehouse implements AsyncDisposable {
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#instance = instance;
    this.#connection = connection;
  }

  static async open(file: string): Promise<Warehouse> {
    const instance = await DuckDBInstance.create(file, { access_mode: "READ_ONLY", threads: "2" });
    return new Warehouse(instance, await instance.connect());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.closeSync();
    this.#instance.closeSync();
  }

  /** The canonical cells of a table's rows. */
  async cells({ name, columns }: Table): Promise<(string | null)[][]> {
    const sql = `SELECT ${columns.map(textSql).join(", ")} FROM ${name}`;
    const rows = (await this.#connection.runAndReadAll(sql)).getRows();
    return rows.map((row) =>
      row.map((cell, at) => {
        if (typeof cell !== "string") return null;
        return columns[at]?.type === "json" ? canonicalJson(JSON.parse(cell)) : cell;
      }),
    );
  }

  /** Names of all tables that are no account of the run. */
  async dataTables(): Promise<string[]> {
    const found = await this.#connection.runAndReadAll(
      "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' ORDER BY table_name",
    );
    const names = found.getRows().map(([name]) => String(name));
    return names.filter((name) => !isRunTable(name));
  }
}

/** A column's value as text, as an expected row has it. */
function textSql({ name, type }: Column): string {
  if (type === "timestamp") return `CAST(epoch_us(${name}) AS VARCHAR)`;
  if (type === "date") return `CAST(${name} - DATE '1970-01-01' AS VARCHAR)`;
  return type === "text" ? name : `CAST(${name} AS VARCHAR)`;
}

/** Keys of objects in order, so that only what is said counts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
