/** The target `postgres` with tables that DuckDB has and PostgreSQL has not: delivered, with a warning for each. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { Client } from "pg";
import { removeTree } from "../../src/common/tree.ts";
import { openLoaderTable } from "../../src/load/loader-tables.ts";
import type { DeliveredRun, LoadTable } from "../../src/pipeline.ts";
import { openForScanning } from "../../src/storage/database.ts";
import { writeParquet } from "../../src/storage/parquet-sql.ts";
import { quoteIdentifier } from "../../src/storage/sql-text.ts";
import type { Cell } from "../../src/storage/table-builder.ts";
import { type Column, type ColumnType, column, defineTable } from "../../src/tables/declare.ts";
import { type Delivery, deliver } from "../../src/targets/deliver.ts";
import { postgres } from "../../src/targets/postgres/postgres.ts";
import fc from "../properties.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

let folder: string;
let server: PostgresServer;
let admin: Client;
let sequence = 0;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postgres-limits-"));
  server = await startPostgres();
  Object.assign(process.env, server.env("postgres"));
  admin = await server.connect();
});

after(async () => {
  await admin?.end();
  await server?.[Symbol.asyncDispose]();
  await removeTree(folder);
});

type Rows = readonly (readonly Cell[])[];

function made(name: string, key: readonly string[], columns: readonly Column[], rows: Rows): LoadTable {
  const table = defineTable({ name, key, columns, comment: "Made.", stage: "query" });
  const cells = async function* () {
    yield* rows;
  };
  return { table, rows: rows.length, files: [], cells, batches: () => assert.fail("no batches") };
}

const runOf = (number: number) => ({
  run: `run-${number}`,
  sequence: number,
  sha256: String(number).padStart(64, "0"),
});

/** Delivers the next run, with these tables, and gives the warnings. */
async function delivered(tables: readonly LoadTable[]): Promise<readonly string[]> {
  const { failure, warnings } = await deliveryOf(tables);
  assert.equal(failure, null);
  return warnings;
}

async function deliveryOf(tables: readonly LoadTable[]): Promise<Delivery> {
  sequence += 1;
  const { sha256 } = runOf(sequence);
  const past = Array.from({ length: sequence - 1 }, (_, i) => runOf(sequence - 1 - i));
  const run: DeliveredRun = {
    ...{ ...runOf(sequence), pipeline: "made", verdict: "complete", tables, past, known: past },
    ...{ isRollback: false, instance: { id: "one", origin: "https://one.example.com" } },
    ...{ directory: folder, files: [], manifest: { path: "manifest.json", bytes: 1, sha256 } },
    ...{ signal: new AbortController().signal, onProgress: () => {} },
  };
  const target = postgres({ url: "postgres://postgres@/postgres" });
  const [delivery = assert.fail()] = await deliver([target], run, { elapsedMs: () => 0, signal: run.signal });
  return delivery;
}

/** Rows as texts in the order of the first column: instants in microseconds, dates in days since 1970. */
async function rowsOf(table: string, columns: Readonly<Record<string, ColumnType>>) {
  const cells = Object.entries(columns).map(([name, type]) => {
    const cell = quoteIdentifier(name);
    if (type !== "timestamp" && type !== "date") return `${cell}::text`;
    const exact =
      type === "date" ? `${cell} - DATE '1970-01-01'` : `(extract(epoch FROM ${cell}) * 1000000)::bigint`;
    return `CASE WHEN isfinite(${cell}) THEN (${exact})::text ELSE ${cell}::text END`;
  });
  const text = `SELECT ${cells.join(", ")} FROM content_warehouse.${table} ORDER BY ${Object.keys(columns)[0]}`;
  return (await admin.query<(string | null)[], []>({ text, rowMode: "array" })).rows;
}

async function indexesOf(table: string): Promise<string[]> {
  const sql =
    "SELECT indexdef FROM pg_indexes WHERE schemaname = 'content_warehouse' AND tablename = $1 ORDER BY 1";
  const { rows } = await admin.query(sql, [table]);
  return rows.map(({ indexdef }) => String(indexdef).replace(/^.* USING /, ""));
}

const of = (name: string, type: ColumnType = "text", options = {}): Column =>
  column(name, type, { comment: "A column.", ...options });
const keyOf = (name: string, type: ColumnType = "text") => of(name, type, { required: true });
/** Text that cannot be compressed. */
const noise = (bytes: number) => randomBytes(bytes / 2).toString("hex");

suite("a table that PostgreSQL cannot have as it is", () => {
  test("has no key or index that it refuses", async () => {
    const long = [
      ["a", "x", noise(8000)],
      [noise(8000), "y", "b"],
    ];
    const nul = [
      ["a\uFFFD", "\0\0"],
      ["a\0", "b"],
    ];
    const columns = [keyOf("k"), of("short"), of("content_id")];
    const byJson = [keyOf("id", "integer"), of("content_id", "json")];
    const many = Array.from({ length: 33 }, (_, n) => keyOf(`k${n}`));
    const keys = many.map(({ name }) => name);
    const warnings = await delivered([
      made("long_key", ["k"], columns, long),
      made("long_key_pkey", ["k"], columns, [["a", "b", "c"]]),
      made("nul", ["k"], [keyOf("k"), of("t")], nul),
      made("by_json", ["id"], byJson, [[1, "{}"]]),
      made("long_row", keys, many, [keys.map(() => "x")]),
    ]);
    assert.deepEqual(
      warnings.map((warning) => warning.replace(/\(.*?\)/g, "()").replace(/\(.*\)\./, "().")),
      [
        "In PostgreSQL the table long_key has no primary key ().",
        "In PostgreSQL the table nul has 2 texts with U+FFFD instead of U+0000, which PostgreSQL cannot store; no primary key ().",
        "In PostgreSQL the table by_json has no index on content_id ().",
        "In PostgreSQL the table long_row has no primary key ().",
      ],
    );
    assert.match(
      warnings[0] ?? "",
      /no primary key \(index row .*\); no index on content_id \(index row size .*\)\.$/,
    );
    const read = await rowsOf("long_key", { short: "text", k: "text", content_id: "text" });
    assert.deepEqual(
      read,
      long.map(([k = "", short = "", id = ""]) => [short, k, id]),
    );
    assert.deepEqual(await rowsOf("nul", { t: "text", k: "text" }), [
      ["b", "a\uFFFD"],
      ["\uFFFD\uFFFD", "a\uFFFD"],
    ]);
    const indexes: string[][] = [];
    for (const table of ["long_key", "long_key_pkey", "nul", "by_json", "long_row"])
      indexes.push(await indexesOf(table));
    assert.deepEqual(indexes, [[], ["btree (content_id)", "btree (k)"], [], ["btree (id)"], []]);
  });

  test("is refused with a name that is too long or PostgreSQL's own, too many columns, or no JSON", async () => {
    const key = keyOf("id", "integer");
    const many = Array.from({ length: 1600 }, (_, n) => of(`c${n}`, "boolean"));
    const cases: readonly (readonly [string, readonly Column[], RegExp])[] = [
      ["t".repeat(64), [key], /^The table t+ cannot be delivered to PostgreSQL: names have at most 63 bytes/],
      ["long_column", [key, of("é".repeat(32))], /^The table long_column .* and é+ has more; shorten it/],
      ["own", [key, of("ctid")], /^The table own .*: every table has a column ctid there/],
      ["many", [key, ...many], /^The table many .* at most 1600 columns there, and it has 1601; leave some/],
      ["odd", [key, of("j", "json")], /failed: invalid input syntax for type json; correct that there/],
    ];
    for (const [name, columns, message] of cases) {
      const rows = name === "odd" ? [[1, "NaN"]] : [];
      const { failure } = await deliveryOf([made(name, ["id"], columns, rows)]);
      assert.equal(failure?.code, "target.refused");
      assert.match(failure.message, message);
    }
  });

  test("has infinity for instants and dates that are out of its range", async () => {
    const table = defineTable({
      ...{ name: "times", comment: "Times.", stage: "query", key: ["id"] },
      columns: [keyOf("id", "integer"), of("at", "timestamp"), of("day", "date")],
    });
    const file = join(folder, "times.parquet");
    const limits = {
      temporaryDirectory: folder,
      allowedDirectories: [folder],
      memoryLimitMb: 64,
      threads: 1,
    };
    await using database = await openForScanning(limits);
    const rows = [
      ["infinity", "infinity"],
      ["-infinity", "-infinity"],
      ["294247-01-10 04:00:54.775806+00", "5874897-12-31"],
      ["4714-11-24 (BC) 00:00:00+00", "4714-11-24 (BC)"],
      ["4714-11-23 (BC) 23:59:59.999999+00", "4714-11-23 (BC)"],
      ["290300-01-01 (BC) 00:00:00+00", "5874898-01-01"],
    ].map(([at, day], n) => `(${n}, TIMESTAMPTZ '${at}', DATE '${day}')`);
    const query = { text: `FROM (VALUES ${rows.join(", ")}) AS times (id, "at", "day")`, params: [] };
    await writeParquet(database.connection, { table, query, file });
    const warnings = await delivered([
      openLoaderTable({ table, rows: 6, files: [file], temporaryDirectory: folder }),
    ]);
    assert.deepEqual(warnings, [
      "In PostgreSQL the table times has 4 times outside its range, stored as infinity.",
    ]);
    assert.deepEqual(await rowsOf("times", { id: "integer", at: "timestamp", day: "date" }), [
      ["0", "infinity", "infinity"],
      ["1", "-infinity", "-infinity"],
      ["2", "9223372036854775806", "2145042905"],
      ["3", "-210866803200000000", "-2440588"],
      ["4", "-infinity", "-infinity"],
      ["5", "-infinity", "infinity"],
    ]);
  });

  test("has every other value of every type as it is, and no warning", async () => {
    const text = fc
      .string({ unit: "binary", maxLength: 40 })
      .filter((value) => !value.includes("\0") && value.isWellFormed());
    const cells: Readonly<Record<ColumnType, fc.Arbitrary<Cell>>> = {
      text: fc.oneof(
        text,
        fc.constantFrom("\uFEFFa\uFEFF", "\\N", "\\.", "a\r\n\t\\b", "x".repeat(1_000_000)),
      ),
      json: fc.oneof(fc.json(), fc.constantFrom('"\\u0000"', "1e999", '{"a":1,"a":2}')),
      boolean: fc.boolean(),
      integer: fc.integer(),
      bigint: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      double: fc.double(),
      timestamp: fc.bigInt({ min: -210_866_803_200_000_000n, max: 2n ** 63n - 2n }),
      date: fc.integer({ min: -2_440_588, max: 2_145_042_905 }),
    };
    const types = Object.keys(cells) as ColumnType[];
    const columns = [keyOf("id", "integer"), ...types.map((type) => of(type, type))];
    const row = fc.tuple(...types.map((type) => fc.option(cells[type])));
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 30 }), async (rows) => {
        const numbered = rows.map((each, n) => [n, ...each]);
        assert.deepEqual(await delivered([made("odd", ["id"], columns, numbered)]), []);
        const read = await rowsOf("odd", Object.fromEntries(columns.map(({ name, type }) => [name, type])));
        assert.equal(read.length, numbered.length);
        for (const [n, cells] of numbered.entries()) {
          for (const [at, { type }] of columns.entries()) {
            const [cell, found] = [cells[at] ?? null, read[n]?.[at] ?? null];
            if (type === "double" && cell !== null)
              assert.ok(Object.is(Number(found), cell), `${found} for ${cell}`);
            else assert.equal(found, cell === null ? null : String(cell), type);
          }
        }
      }),
      { numRuns: 15 },
    );
  });
});
