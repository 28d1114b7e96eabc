import { hash } from "node:crypto";
import type { Column, Table } from "../../src/tables/declare.ts";
import type { Row } from "./values.ts";

/** Between the columns of a canonical row, and in place of NULL: no content set has these characters. */
export const SEPARATOR = "\u001f";
export const NULL_MARK = "\u001e";

/**
 * The texts of a row's columns, in the order of the declaration; null stays null. A row must say something of every
 * column, so that none is forgotten.
 */
export function canonicalCells(table: Table, columns: readonly Column[], row: Row): (string | null)[] {
  const keys = Object.keys(row);
  const strange = keys.find((key) => !columns.some((column) => column.name === key));
  if (strange !== undefined) throw new Error(`${table.name} has no column ${strange} to compare`);
  return columns.map((column) => {
    const value = row[column.name];
    if (value === undefined) throw new Error(`nothing is expected of ${table.name}.${column.name}`);
    return value === null ? null : canonicalText(column, value);
  });
}

function canonicalText(column: Column, value: unknown): string {
  if (column.type === "json") return canonicalJson(value);
  if (column.type === "double") return canonicalDouble(value);
  return String(value);
}

/** Keys of objects in order, so that only what is said counts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** As DuckDB writes doubles of a size that content sets have. */
function canonicalDouble(value: unknown): string {
  const number = Number(value);
  const size = Math.abs(number);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) throw new Error(`${number} needs another text in DuckDB`);
  return Number.isInteger(number) ? number.toFixed(1) : String(number);
}

export function joinCells(cells: readonly (string | null)[]): string {
  return cells.map((cell) => cell ?? NULL_MARK).join(SEPARATOR);
}

/** Number of rows and the sum of their hashes: the same for the same rows in any order. */
export class Digest {
  rows = 0;
  sum = 0n;

  /** A canonical row. */
  add(text: string): void {
    this.addSum(1, hash("md5", text, "buffer").readBigUInt64LE(8));
  }

  addSum(rows: number, sum: bigint): void {
    this.rows += rows;
    this.sum = BigInt.asUintN(64, this.sum + sum);
  }

  toString(): string {
    return `${this.rows} rows, digest ${this.sum.toString(16).padStart(16, "0")}`;
  }
}
