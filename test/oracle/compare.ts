import { DATA_TABLES } from "../../src/tables/all.ts";
import type { Table } from "../../src/tables/declare.ts";
import { canonicalCells, Digest, joinCells } from "./digest.ts";
import { type ExportOptions, expectedRows } from "./rows.ts";
import type { Row } from "./values.ts";
import type { Warehouse } from "./warehouse.ts";

/** The history names runs: its own tests hold it. */
const COMPARED = DATA_TABLES.filter(({ stage }) => stage !== "history");
const TABLES = new Map(COMPARED.map((table) => [table.name, table]));
const EXAMPLES = 2;
const EXAMPLE_LENGTH = 160;

type Cells = readonly (string | null)[];

/** What an export of the content set must hold, table by table. */
function expectedDigests(folder: string, options: ExportOptions): Map<string, Digest> {
  const digests = new Map(COMPARED.map(({ name }) => [name, new Digest()]));
  const columns = new Map(COMPARED.map((table) => [table.name, table.columns]));
  expectedRows(
    folder,
    options,
    oncePerKey((table, row) => {
      const cells = canonicalCells(table, columns.get(table.name) ?? [], row);
      digests.get(table.name)?.add(joinCells(cells));
    }),
  );
  return digests;
}

/** Files are mentioned by several items and have one row; a key that stands twice elsewhere is a mistake. */
function oncePerKey(take: (table: Table, row: Row) => void) {
  const files = new Set<unknown>();
  return (name: string, row: Row): void => {
    const table = TABLES.get(name);
    if (table === undefined) throw new Error(`no table ${name} is declared`);
    if (name === "custom_field_files" && files.size === files.add(row.file_id).size) return;
    take(table, row);
  };
}

/** A sentence for each table whose rows are not those that the content set must give. */
export async function differences(
  warehouse: Warehouse,
  folder: string,
  options: ExportOptions,
): Promise<string[]> {
  const found: string[] = [];
  for (const [name, expected] of expectedDigests(folder, options)) {
    const table = TABLES.get(name);
    if (table === undefined) continue;
    const actual = await warehouse.digest(table);
    if (String(actual) === String(expected)) continue;
    const details = await describe(warehouse, table, folder, options);
    found.push(`${name}: expected ${expected}, found ${actual}\n${details}`);
  }
  return found;
}

/** Which columns differ in how many rows, and examples of either side. */
async function describe(
  warehouse: Warehouse,
  table: Table,
  folder: string,
  options: ExportOptions,
): Promise<string> {
  const columns = table.columns;
  const expected = new Map<string, Cells>();
  expectedRows(
    folder,
    options,
    oncePerKey((each, row) => {
      if (each !== table) return;
      const cells = canonicalCells(table, columns, row);
      const key = keyOf(table, cells);
      if (expected.has(key)) throw new Error(`${table.name}: two rows are expected of the key ${key}`);
      expected.set(key, cells);
    }),
  );
  const extra: string[] = [];
  const differing = new Map<string, string[]>();
  for (const cells of await warehouse.cells(table)) {
    const key = keyOf(table, cells);
    const wanted = expected.get(key);
    expected.delete(key);
    if (wanted === undefined) extra.push(show(table, cells));
    else noteColumns(table, key, wanted, cells, differing);
  }
  const missing = [...expected.values()].map((cells) => show(table, cells));
  return [
    ...listed("rows that nothing accounts for", extra),
    ...listed("rows that are missing", missing),
    ...[...differing].flatMap(([column, rows]) => listed(`rows with another ${column}`, rows)),
  ].join("\n");
}

function noteColumns(
  table: Table,
  key: string,
  expected: Cells,
  actual: Cells,
  differing: Map<string, string[]>,
): void {
  table.columns.forEach(({ name }, at) => {
    if (expected[at] === actual[at]) return;
    const rows = differing.get(name) ?? [];
    rows.push(`${key}: expected ${brief(expected[at])}, found ${brief(actual[at])}`);
    differing.set(name, rows);
  });
}

function listed(what: string, rows: readonly string[]): string[] {
  if (rows.length === 0) return [];
  return [`  ${rows.length} ${what}`, ...rows.slice(0, EXAMPLES).map((row) => `    ${row}`)];
}

function keyOf(table: Table, cells: Cells): string {
  const names = table.columns.map(({ name }) => name);
  return table.key.map((name) => `${name}=${cells[names.indexOf(name)]}`).join(" ");
}

function show(table: Table, cells: Cells): string {
  return table.columns.map(({ name }, at) => `${name}=${brief(cells[at])}`).join(" ");
}

function brief(cell: string | null | undefined): string {
  const text = JSON.stringify(cell) ?? "nothing";
  return text.length <= EXAMPLE_LENGTH
    ? text
    : `${text.slice(0, EXAMPLE_LENGTH)}… (${text.length} characters)`;
}
