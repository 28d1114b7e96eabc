/** Texts come out of the database as they went in, whatever their first and last characters are. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import {
  type DuckDBConnection,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBUnionValue,
  type DuckDBValue,
  DuckDBVariantValue,
} from "@duckdb/node-api";
import { openLoaderTable } from "../../src/load/loader-tables.ts";
import { type Database, openForBuilding } from "../../src/storage/database.ts";
import { all, execute, stream } from "../../src/storage/duckdb.ts";
import { quoteIdentifier, quoteLiteral } from "../../src/storage/sql-text.ts";
import { defineTable, integer, text } from "../../src/tables/declare.ts";
import { either } from "../long.ts";
import { temporaryFolder } from "../run/running.ts";

const BOM = "\uFEFF";

/** Of the basic plane one in 37 (in the short form 370) and all that are special; of each other plane its first, its last and some between. */
function characters(): string[] {
  const points = new Set<number>();
  for (let point = 0; point < 0x1_0000; point += either(370, 37)) points.add(point);
  for (let point = 0; point < 0x180; point++) points.add(point);
  for (let point = 0xfdd0; point <= 0xfdef; point++) points.add(point);
  for (const [first, last] of [
    [0x300, 0x370],
    [0x2000, 0x2070],
    [0xd7f0, 0xe010],
    [0xfe00, 0xfe30],
    [0xfef0, 0xffff],
  ] as const)
    for (let point = first; point <= last; point++) points.add(point);
  for (let plane = 0; plane <= 0x10; plane++)
    for (const low of [0x0, 0x1, 0x7fff, 0xf600, 0xfeff, 0xfffe, 0xffff]) points.add(plane * 0x1_0000 + low);
  const isHalf = (point: number) => point >= 0xd800 && point <= 0xdfff;
  return [...points].filter((point) => !isHalf(point)).map((point) => String.fromCodePoint(point));
}

/** Alone, and at both ends of texts that the engine holds in place (12 bytes at the most) and elsewhere. */
const TEXTS = characters().flatMap((end) => [
  end,
  end + end,
  `${end}a${end}`,
  `${end}${"long enough to lie elsewhere"}${end}`,
]);

async function database(folder: string): Promise<Database> {
  return openForBuilding({
    file: join(folder, "texts.duckdb"),
    staging: folder,
    temporaryDirectory: folder,
    memoryLimitMb: 500,
    previous: undefined,
  });
}

async function filled(connection: DuckDBConnection): Promise<void> {
  await execute(connection, "CREATE TABLE texts (n INTEGER, t VARCHAR)");
  const hex = TEXTS.map((each, n) => `(${n}, '${Buffer.from(each).toString("hex")}')`);
  const values = `(VALUES ${hex.join(", ")}) AS given(n, hex)`;
  await execute(connection, `INSERT INTO texts SELECT n, decode(unhex(hex)) FROM ${values}`);
}

/** Fails with the texts that are others, and not with all. */
function assertTexts(found: readonly unknown[]): void {
  assert.equal(found.length, TEXTS.length);
  const others = TEXTS.flatMap((each, n) => (found[n] === each ? [] : [[each, found[n]]]));
  assert.deepEqual(others.slice(0, 20), []);
}

async function rows(connection: DuckDBConnection, sql: string): Promise<(readonly DuckDBValue[])[]> {
  const found: DuckDBValue[][] = [];
  for await (const some of (await stream(connection, sql)).yieldRows()) found.push(...some);
  return found;
}

test("every text comes out of the database, and out of its Parquet files, as it is", async (t) => {
  const folder = await temporaryFolder(t);
  await using open = await database(folder);
  const { connection } = open;
  await filled(connection);
  const found = await all(connection, "SELECT t FROM texts ORDER BY n");
  assertTexts(found.map((row) => row.t));
  assertTexts((await rows(connection, "SELECT t FROM texts ORDER BY n")).map(([each]) => each));
  const file = join(folder, "texts.parquet");
  await execute(connection, `COPY (FROM texts ORDER BY n) TO ${quoteLiteral(file)}`);
  const table = defineTable({
    name: "texts",
    comment: "Texts.",
    stage: "query",
    key: ["n"],
    columns: [integer("n", { comment: "Number.", required: true }), text("t", { comment: "Text." })],
    references: [],
    rows: { kind: "program" },
  });
  const load = openLoaderTable({ table, rows: TEXTS.length, files: [file], temporaryDirectory: folder });
  const cells: unknown[] = [];
  for await (const [, cell] of load.cells()) cells.push(cell);
  assertTexts(cells);
  const arrow: string[] = [];
  for await (const batch of load.batches()) {
    const { values, valueOffsets } = batch.getChildAt(1)?.data[0] ?? assert.fail("there is no column");
    for (let row = 0; row < batch.numRows; row++)
      arrow.push(Buffer.from(values.subarray(valueOffsets[row], valueOffsets[row + 1])).toString());
  }
  assertTexts(arrow);
});

test("every text goes into the database as a parameter, and comes back", async (t) => {
  await using open = await database(await temporaryFolder(t));
  for (const each of TEXTS.filter((_, n) => n % 16 === 3 || TEXTS[n]?.startsWith(BOM))) {
    const [row] = await all(open.connection, "SELECT $1 AS t, hex(encode($1::VARCHAR)) AS hex", [each]);
    assert.deepEqual([row?.t, row?.hex], [each, Buffer.from(each).toString("hex").toUpperCase()]);
  }
});

test("texts within other values, and names of columns, keep U+FEFF at their beginning too", async (t) => {
  await using open = await database(await temporaryFolder(t));
  const { connection } = open;
  for (const each of [`${BOM}`, `${BOM}a`, `${BOM}${BOM}a`, `${BOM}long enough to lie elsewhere`]) {
    const cell = async (sql: string) => (await rows(connection, `SELECT ${sql}`))[0]?.[0];
    const literal = quoteLiteral(each);
    assert.deepEqual(await cell(`[${literal}]`), new DuckDBListValue([each]));
    const entries = { [each]: each };
    assert.deepEqual(await cell(`{${literal}: ${literal}}`), new DuckDBStructValue(entries));
    assert.deepEqual(
      await cell(`MAP {${literal}: ${literal}}`),
      new DuckDBMapValue([{ key: each, value: each }]),
    );
    assert.deepEqual(await cell(`union_value(u := ${literal})`), new DuckDBUnionValue("u", each));
    const variant = await cell(`${literal}::VARIANT`);
    assert.ok(variant instanceof DuckDBVariantValue && variant.value === each, String(variant));
    assert.equal(await cell(`${literal}::ENUM (${literal})`), each);
    assert.equal(await cell(`to_json(${literal})`), JSON.stringify(each));
    const result = await stream(connection, `SELECT 1 AS ${quoteIdentifier(each)}`);
    assert.deepEqual(result.columnNames(), [each]);
  }
});
