/** The example of a loader, docs/examples/postgres.ts, against a real PostgreSQL. */
import assert from "node:assert/strict";
import { mkdtemp, readlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { Client } from "pg";
import { packagePath } from "../../src/common/package-root.ts";
import { removeTree } from "../../src/common/tree.ts";
import { quoteIdentifier } from "../../src/storage/sql-text.ts";
import { RUN_TABLES, TABLES } from "../../src/tables/all.ts";
import type { Column, Table } from "../../src/tables/declare.ts";
import { type Outcome, program } from "../cli/running.ts";
import { openPublished, type Reader, type Row } from "../run/running.ts";
import { ODD_ROWS, oddValues } from "./odd-values.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

const EXAMPLE = "docs/examples/postgres.ts";
const ODD = "test/engines/odd-pipeline.ts";
const SMALL = "test/engines/small-pipeline.ts";
const FAILING = "test/engines/failing-pipeline.ts";

const DECLARED = new Map<string, Table>(
  [...TABLES, ...RUN_TABLES, ...oddValues.tables].map((table) => [table.name, table]),
);

let out: string;
let server: PostgresServer;
let admin: Client;

before(async () => {
  out = await mkdtemp(join(tmpdir(), "postgres-example-"));
  server = await startPostgres();
  admin = await server.connect();
  await admin.query("CREATE ROLE loader LOGIN; GRANT CREATE ON DATABASE postgres TO loader");
});

after(async () => {
  await admin?.end();
  await server?.[Symbol.asyncDispose]();
  await removeTree(out);
});

function run(pipeline: string, env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  return program(["run", packagePath(pipeline), "--sample", "--warehouse", out], {
    env: { ...server.env("loader"), ...env },
  });
}

async function publish(pipeline: string): Promise<void> {
  const { code, stderr } = await run(pipeline);
  assert.equal(code, 0, stderr);
}

/** Name of the run that the warehouse folder has. */
const current = async (): Promise<string> => (await readlink(join(out, "current"))).replace("runs/", "");

/** Name of the run that PostgreSQL has. */
async function loaded(client = admin): Promise<unknown> {
  return (await client.query("SELECT run FROM content_warehouse.run")).rows[0]?.run;
}

async function schemas(): Promise<unknown[]> {
  const sql = "SELECT nspname FROM pg_namespace WHERE nspname ~ 'warehouse' ORDER BY 1";
  return (await admin.query(sql)).rows.map(({ nspname }) => nspname);
}

async function rowsIn(sql: string): Promise<Row[]> {
  return (await admin.query({ text: sql, rowMode: "array" })).rows;
}

/** A cell as both engines can tell it: instants in microseconds, dates in days, all but doubles as text. */
function inDuckDb({ name, type }: Column): string {
  const column = quoteIdentifier(name);
  if (type === "double") return column;
  if (type === "timestamp") return `epoch_us(${column})::VARCHAR`;
  if (type === "date") return `(${column} - DATE '1970-01-01')::VARCHAR`;
  return type === "text" ? `replace(${column}, chr(0), chr(65533))` : `${column}::VARCHAR`;
}

function inPostgres({ name, type }: Column): string {
  const column = quoteIdentifier(name);
  if (type === "double") return column;
  if (type === "timestamp") return `(extract(epoch FROM ${column}) * 1000000)::bigint::text`;
  if (type === "date") return `(${column} - DATE '1970-01-01')::text`;
  return `${column}::text`;
}

async function assertAlike(duckdb: Reader, { name, columns, key }: Table): Promise<void> {
  const order = `ORDER BY ${key.map((each) => `published.${quoteIdentifier(each)}`).join(", ")}`;
  const expected = await duckdb.rows(
    `SELECT ${columns.map(inDuckDb).join(", ")} FROM ${name} AS published ${order}`,
  );
  const found = await rowsIn(
    `SELECT ${columns.map(inPostgres).join(", ")} FROM content_warehouse.${name} AS published ${order}`,
  );
  assert.equal(found.length, expected.length, name);
  for (const [at, row] of found.entries()) assert.deepEqual(row, expected[at], `${name}, row ${at}`);
}

/** Every table of the published run, row by row, and no other; gives their names. */
async function assertSameTables(): Promise<unknown[]> {
  await using duckdb = await openPublished(join(out, "current"));
  const names = (
    await duckdb.rows("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' ORDER BY ALL")
  ).map(([name]) => name);
  const there = "SELECT tablename FROM pg_tables WHERE schemaname = 'content_warehouse' ORDER BY 1";
  assert.deepEqual(
    (await rowsIn(there)).map(([name]) => name),
    names,
  );
  for (const name of names)
    await assertAlike(duckdb, DECLARED.get(String(name)) ?? assert.fail(String(name)));
  return names;
}

suite("the PostgreSQL loader of docs/examples", () => {
  test("has every row of every table as the run's DuckDB file has it", async () => {
    await publish(EXAMPLE);
    assert.equal(await loaded(), await current());
    const names = await assertSameTables();
    assert.ok(names.length > 35 && names.includes("content") && names.includes("run"), names.join());
    assert.deepEqual(await schemas(), ["content_warehouse"]);
  });

  test("lets a transaction go on with the run that it has begun to read, and takes its place then", async () => {
    const before = await current();
    const reader = await server.connect();
    await reader.query("BEGIN");
    assert.equal(await loaded(reader), before);
    const ended = publish(ODD);
    const tries = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE 'ROLLBACK TO%'";
    while ((await admin.query(tries)).rows[0].n === 0) {
      await Promise.race([setTimeout(50), ended.then(() => assert.fail("it did not wait"))]);
    }
    assert.notEqual(await current(), before);
    // Tables that it had not read before, while others begin to read as well.
    const items =
      "SELECT count(*)::int AS n, min(run) AS run FROM content_warehouse.content, content_warehouse.run";
    for (const each of [reader, admin])
      assert.deepEqual((await each.query(items)).rows, [{ n: 500, run: before }]);
    await reader.query("COMMIT");
    await ended;
    assert.deepEqual((await reader.query(items)).rows, [{ n: 500, run: await current() }]);
    await reader.end();
    assert.deepEqual(await schemas(), ["content_warehouse"]);
  });

  test("shows a transaction that is older than the rows all of them, and never an empty table", async () => {
    const reader = await server.connect();
    await reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await reader.query("SELECT 1 FROM pg_class LIMIT 1");
    await publish(SMALL);
    const items = "SELECT count(*)::int AS n FROM content_warehouse.content";
    assert.deepEqual((await reader.query(items)).rows, [{ n: 500 }]);
    await reader.end();
    await publish(ODD);
  });

  test("has values of every type exactly, and NUL as U+FFFD", async () => {
    const names = await assertSameTables();
    assert.ok(names.length > 50 && names.includes("mapped_value_history"), names.join());
    assert.deepEqual(await rowsIn("SELECT count(*)::int FROM content_warehouse.odd_values"), [[ODD_ROWS]]);
    const texts =
      "SELECT t IS NULL, t FROM content_warehouse.odd_values WHERE n IN (0, 1, 2, 5, 8) ORDER BY n";
    assert.deepEqual(await rowsIn(texts), [
      [true, null],
      [false, ""],
      [false, "\\N"],
      [false, "NUL\uFFFD."],
      [false, "NULL"],
    ]);
    const far = `SELECT "at" AT TIME ZONE 'UTC' = '9999-12-31 23:59:59.999999', "select" = '9999-12-31', l
      FROM content_warehouse.odd_values WHERE n = 3`;
    assert.deepEqual(await rowsIn(far), [[true, true, "9223372036854775807"]]);
    const first = `SELECT "at" AT TIME ZONE 'UTC' = '0001-01-01 00:00:00.000001 BC', l FROM content_warehouse.odd_values
      WHERE n = 4`;
    assert.deepEqual(await rowsIn(first), [[true, "-9223372036854775808"]]);
  });

  test("has the declared types, keys and comments", async () => {
    const types = `SELECT column_name::text, data_type::text FROM information_schema.columns
      WHERE table_schema = 'content_warehouse' AND table_name = 'odd_values' ORDER BY ordinal_position`;
    assert.deepEqual(await rowsIn(types), [
      ["n", "integer"],
      ["t", "text"],
      ["j", "json"],
      ["b", "boolean"],
      ["i", "integer"],
      ["l", "bigint"],
      ["d", "double precision"],
      ["at", "timestamp with time zone"],
      ["select", "date"],
    ]);
    const keys = `SELECT c.relname::text, array_agg(a.attname::text ORDER BY k.place)
      FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k(number, place)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
      WHERE i.indisprimary AND c.relnamespace = 'content_warehouse'::regnamespace GROUP BY 1 ORDER BY 1`;
    const comments = `SELECT c.relname::text, obj_description(c.oid, 'pg_class'),
        array_agg(col_description(c.oid, a.attnum) ORDER BY a.attnum), array_agg(a.attnotnull ORDER BY a.attnum)
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
      WHERE c.relkind = 'r' AND c.relnamespace = 'content_warehouse'::regnamespace
      GROUP BY c.oid, 1 ORDER BY 1`;
    const declared = [...DECLARED.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    assert.deepEqual(
      await rowsIn(keys),
      declared.map(({ name, key }) => [name, [...key]]),
    );
    assert.deepEqual(
      await rowsIn(comments),
      declared.map(({ name, comment, columns }) => [
        name,
        comment,
        columns.map((column) => column.comment),
        columns.map(({ nullable }) => !nullable),
      ]),
    );
  });

  test("leaves everything as it was where another loader cannot stage the run", async () => {
    const before = await current();
    const { code, stderr } = await run(FAILING);
    assert.equal(code, 26, stderr);
    assert.match(
      stderr,
      /The loader broken cannot stage the run: there is no room left, at .*failing-pipeline\.ts:\d+; nothing was published\./,
    );
    assert.deepEqual([await current(), await loaded()], [before, before]);
    assert.deepEqual(await schemas(), ["content_warehouse"]);
    await assertSameTables();
  });

  test("ends the run with nothing published where it cannot connect or may not write", async () => {
    const before = await current();
    const refused = await run(SMALL, { PGHOST: out });
    assert.equal(refused.code, 26, refused.stderr);
    assert.match(
      refused.stderr,
      /The loader postgres cannot stage the run: connect ENOENT .*; nothing was published\./,
    );
    await admin.query("CREATE ROLE guest LOGIN");
    const forbidden = await run(SMALL, { PGUSER: "guest" });
    assert.equal(forbidden.code, 26, forbidden.stderr);
    assert.match(
      forbidden.stderr,
      /permission denied for database postgres, at .*postgres\.ts:\d+; nothing was published\./,
    );
    assert.deepEqual([await current(), await loaded()], [before, before]);
  });

  test("keeps the old schema where the new one cannot take its place, and the run is published", async () => {
    const before = await current();
    await admin.query("ALTER SCHEMA content_warehouse OWNER TO postgres");
    const { code, stderr } = await run(SMALL);
    assert.equal(code, 26, stderr);
    assert.match(
      stderr,
      /The loader postgres cannot make the run visible: must be owner of schema content_warehouse(, at .*:\d+)?; in the warehouse folder it is published and stays so/,
    );
    assert.notEqual(await current(), before);
    assert.equal(await loaded(), before);
    assert.deepEqual(await schemas(), ["content_warehouse"]);
    await admin.query("ALTER SCHEMA content_warehouse OWNER TO loader");
    await publish(SMALL);
    assert.equal(await loaded(), await current());
  });
});
