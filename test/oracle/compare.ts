import { DATA_TABLES } from "../../src/tables/all.ts";
import type { Column, Table } from "../../src/tables/declare.ts";
import { type ExportOptions, expectedRows } from "./rows.ts";
import type { Row } from "./values.ts";
import { canonicalJson, type Warehouse } from "./warehouse.ts";

/** The history names runs: its own tests hold it. */
const COMPARED = DATA_TABLES.filter(({ stage }) => stage !== "history");
const EXAMPLES = 2;
const EXAMPLE_LENGTH = 160;

type Cells = readonly (string | null)[];

/** A sentence for each table whose rows are not those that the content set must give, with the first of them. */
export async function differences(
  warehouse: Warehouse,
  folder: string,
  options: ExportOptions,
): Promise<string[]> {
  const tables = new Map(
    COMPARED.map((table) => [table.name, { table, expected: new Map<string, Cells>() }]),
  );
  expectedRows(folder, options, (name, row) => {
    const found = tables.get(name);
    if (found === undefined) throw new Error(`no table ${name} is declared`);
    const { table, expected } = found;
    const cells = canonicalCells(table, row);
    const key = keyOf(table, cells);
    // Files are mentioned by several items and have one row.
    if (expected.has(key) && name !== "custom_field_files") throw new Error(`${name} has ${key} twice`);
    expected.set(key, cells);
  });
  const sentences: string[] = [];
  for (const [name, { table, expected }] of tables) {
    const rows = await warehouse.cells(table);
    const found = new Map(rows.map((cells) => [keyOf(table, cells), cells]));
    const differing = [...new Set([...expected.keys(), ...found.keys()])].flatMap((key) => {
      const [wanted, there] = [expected.get(key), found.get(key)];
      const cells = table.columns.flatMap((column, at) =>
        wanted?.[at] === there?.[at]
          ? []
          : [`    ${column.name}: expected ${brief(wanted?.[at])}, found ${brief(there?.[at])}`],
      );
      return cells.length === 0 ? [] : [`  ${key}\n${cells.join("\n")}`];
    });
    if (differing.length === 0 && rows.length === expected.size) continue;
    const counts = `expected ${expected.size} rows, found ${rows.length} rows, ${differing.length} differ`;
    sentences.push([`${name}: ${counts}`, ...differing.slice(0, EXAMPLES)].join("\n"));
  }
  return sentences;
}

function keyOf(table: Table, cells: Cells): string {
  const names = table.columns.map(({ name }) => name);
  return table.key.map((name) => `${name}=${cells[names.indexOf(name)]}`).join(" ");
}

function brief(cell: string | null | undefined): string {
  const text = JSON.stringify(cell) ?? "nothing";
  return text.length <= EXAMPLE_LENGTH
    ? text
    : `${text.slice(0, EXAMPLE_LENGTH)}… (${text.length} characters)`;
}

/**
 * The texts of a row's columns, in the order of the declaration; null stays null. A row must say something of every
 * column, so that none is forgotten.
 */
function canonicalCells({ name, columns }: Table, row: Row): Cells {
  const strange = Object.keys(row).find((key) => !columns.some((column) => column.name === key));
  if (strange !== undefined) throw new Error(`${name} has no column ${strange} to compare`);
  return columns.map((column) => {
    const value = row[column.name];
    if (value === undefined) throw new Error(`nothing is expected of ${name}.${column.name}`);
    return value === null ? null : canonicalText(column, value);
  });
}

function canonicalText({ type }: Column, value: unknown): string {
  if (type === "json") return canonicalJson(value);
  if (type !== "double") return String(value);
  // As DuckDB writes doubles of a size that content sets have.
  const number = Number(value);
  const size = Math.abs(number);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) throw new Error(`${number} needs another text in DuckDB`);
  return Number.isInteger(number) ? number.toFixed(1) : String(number);
}
