import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { isRunTable } from "../../src/tables/all.ts";
import type { Column, Table } from "../../src/tables/declare.ts";
import { canonicalJson, Digest, joinCells, NULL_MARK, SEPARATOR } from "./digest.ts";

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

  /** Rows without JSON are summed up by DuckDB; JSON is first brought into one form. */
  async digest(table: Table): Promise<Digest> {
    const columns = table.columns;
    const [plain, withJson] = [where(columns, "AND", "IS NULL"), where(columns, "OR", "IS NOT NULL")];
    const cells = columns.map((column) => `coalesce(${text(column)}, '${NULL_MARK}')`);
    const row = cells.join(` || '${SEPARATOR}' || `);
    const summed = await this.#connection.runAndReadAll(
      `SELECT count(*), coalesce(sum(md5_number_lower(${row})), 0) FROM ${table.name} ${plain}`,
    );
    const digest = new Digest();
    const [count, sum] = summed.getRows()[0] ?? [];
    digest.addSum(Number(count), BigInt(String(sum)));
    if (withJson !== "") for (const each of await this.cells(table, withJson)) digest.add(joinCells(each));
    return digest;
  }

  /** The canonical cells of a table's rows. */
  async cells(table: Table, condition = ""): Promise<(string | null)[][]> {
    const columns = table.columns;
    const list = columns.map(text).join(", ");
    const found = await this.#connection.runAndReadAll(`SELECT ${list} FROM ${table.name} ${condition}`);
    return found.getRows().map((row) =>
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

function where(columns: readonly Column[], operator: string, condition: string): string {
  const json = columns.filter(({ type }) => type === "json").map(({ name }) => `${name} ${condition}`);
  return json.length === 0 ? "" : `WHERE ${json.join(` ${operator} `)}`;
}

/** A column's value as text, as `canonicalCells` writes it. */
function text({ name, type }: Column): string {
  if (type === "timestamp") return `CAST(epoch_us(${name}) AS VARCHAR)`;
  if (type === "date") return `CAST(${name} - DATE '1970-01-01' AS VARCHAR)`;
  return type === "text" ? name : `CAST(${name} AS VARCHAR)`;
}
