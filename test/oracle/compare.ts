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

/** How many rows differ, and of the first of them the columns that do. */
async function describe(
  warehouse: Warehouse,
  table: Table,
  folder: string,
  options: ExportOptions,
): Promise<string> {
  const { columns } = table;
  const expected = new Map<string, Cells>();
  expectedRows(
    folder,
    options,
    oncePerKey((each, row) => {
      if (each !== table) return;
      const cells = canonicalCells(table, columns, row);
      expected.set(keyOf(table, cells), cells);
    }),
  );
  const found = new Map((await warehouse.cells(table)).map((cells) => [keyOf(table, cells), cells]));
  const rows = [...new Set([...expected.keys(), ...found.keys()])].flatMap((key) => {
    const [wanted, there] = [expected.get(key), found.get(key)];
    const cells = columns.flatMap(({ name }, at) =>
      wanted?.[at] === there?.[at]
        ? []
        : [`    ${name}: expected ${brief(wanted?.[at])}, found ${brief(there?.[at])}`],
    );
    return cells.length === 0 ? [] : [`  ${key}\n${cells.join("\n")}`];
  });
  return [`  ${rows.length} rows differ`, ...rows.slice(0, EXAMPLES)].join("\n");
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
