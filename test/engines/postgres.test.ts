/** The target `postgres` against a real PostgreSQL. */
import assert from "node:assert/strict";
import { cp, mkdtemp, readlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { Client } from "pg";
import { packagePath } from "../../src/common/package-root.ts";
import { removeTree } from "../../src/common/tree.ts";
import { exitCodeOf } from "../../src/observe/outcome.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import type { DeliveredRun } from "../../src/pipeline.ts";
import { quoteIdentifier } from "../../src/storage/sql-text.ts";
import type { Cell } from "../../src/storage/table-builder.ts";
import { RUN_TABLES, TABLES } from "../../src/tables/all.ts";
import { addPolicyComments, type Column, type Table } from "../../src/tables/declare.ts";
import { postgres } from "../../src/targets/postgres/postgres.ts";
import { readDeliveredRun } from "../../src/targets/published-run.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { findRun } from "../../src/warehouse/retention.ts";
import { type Outcome, program } from "../cli/running.ts";
import { openPublished, type Reader, type Row } from "../run/running.ts";
import { digestIn, nightOn, worldOf } from "../run/two-machines.ts";
import { until } from "../until.ts";
import { ODD_ROWS, oddValues } from "./odd-values.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

const CONFIG = "docs/examples/postgres.mts";
const ODD = "test/engines/odd-pipeline.ts";
const SMALL = "test/engines/small-pipeline.ts";

const DECLARED = new Map<string, Table>(
  [...TABLES, ...RUN_TABLES, ...oddValues.tables].map((table) => [table.name, table]),
);

const CURRENT = "content_warehouse";

let out: string;
let server: PostgresServer;
let admin: Client;

before(async () => {
  out = await mkdtemp(join(tmpdir(), "postgres-example-"));
  server = await startPostgres();
  admin = await server.connect();
  const setUp = [
    "CREATE ROLE loader LOGIN",
    "CREATE DATABASE reports",
    "GRANT CREATE ON DATABASE reports TO loader",
  ];
  for (const statement of setUp) await admin.query(statement);
  await admin.end();
  admin = await server.connect("postgres", "reports");
});

after(async () => {
  await admin?.end();
  await server?.[Symbol.asyncDispose]();
  await removeTree(out);
});

type Env = Readonly<Record<string, string>>;

function command(words: readonly string[], env: Env = {}): Promise<Outcome> {
  return program([...words, "--warehouse", out, "--config", packagePath(CONFIG)], {
    env: { ...server.env("loader"), ...env },
  });
}

function run(pipeline: string, env?: Env): Promise<Outcome> {
  return command(["run", packagePath(pipeline), "--sample", "--accept-pipeline"], env);
}

/** Gives what is printed. */
async function publish(pipeline: string): Promise<string> {
  const { code, stdout, stderr } = await run(pipeline);
  assert.equal(code, 0, stderr);
  return stdout;
}

function assertRefused({ code, stderr }: Outcome, message: RegExp): void {
  assert.equal(code, 26, stderr);
  assert.match(stderr, message);
}

/** Delivers the published run, which was refused before. */
async function deliverLate(): Promise<void> {
  const { code, stderr } = await command(["deliver"]);
  assert.equal(code, 0, stderr);
  assert.deepEqual([await loaded(), await schemas()], [await current(), [CURRENT]]);
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

/** What deliveries ask, or asked last. */
const OPEN = "SELECT query FROM pg_stat_activity WHERE application_name = 'content-warehouse'";

suite("the target postgres", () => {
  test("has every row of every table as the run's DuckDB file has it, and NUL as U+FFFD", async () => {
    assert.match(
      await publish(ODD),
      /\n *Look at +postgres: In PostgreSQL the table odd_values has 1 text with U\+FFFD instead of U\+0000,/,
    );
    assert.equal(await loaded(), await current());
    assert.deepEqual(await schemas(), [CURRENT]);
    const names = await assertSameTables();
    assert.ok(names.length > 50 && names.includes("mapped_value_history"), names.join());
    assert.deepEqual(await rowsIn("SELECT count(*)::int FROM content_warehouse.odd_values"), [[ODD_ROWS]]);
  });

  test("has the declared types, keys and comments, and an index on content_id where no key begins with it", async () => {
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
    const declared = [...DECLARED.values()]
      .map((table) => addPolicyComments(table, "drop"))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
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
    const indexes = `SELECT c.relname::text, array_agg(a.attname::text ORDER BY k.place)::text
      FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k(number, place)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
      WHERE NOT i.indisprimary AND c.relnamespace = 'content_warehouse'::regnamespace GROUP BY i.indexrelid, 1`;
    const found = new Set((await rowsIn(indexes)).map(([table, columns]) => `${table} ${columns}`));
    const wanted = [...DECLARED.values()].flatMap(({ name, key, columns }) =>
      key[0] !== "content_id" && columns.some((column) => column.name === "content_id")
        ? [`${name} {content_id}`]
        : [],
    );
    assert.deepEqual(found, new Set(wanted));
  });

  test("lets a transaction go on with the run that it has begun to read, and takes its place then", async () => {
    const before = await current();
    const reader = await server.connect("postgres", "reports");
    await reader.query("BEGIN");
    assert.equal(await loaded(reader), before);
    const ended = publish(SMALL);
    const tries = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE 'ROLLBACK TO%'";
    await until("it waits", async () => (await admin.query(tries)).rows[0].n > 0, { ended });
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
    assert.deepEqual(await schemas(), [CURRENT]);
  });

  test("shows a transaction that is older than the rows all of them, and never an empty table", async () => {
    const reader = await server.connect("postgres", "reports");
    await reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await reader.query("SELECT 1 FROM pg_class LIMIT 1");
    await publish(SMALL);
    const items = "SELECT count(*)::int AS n FROM content_warehouse.content";
    assert.deepEqual((await reader.query(items)).rows, [{ n: 500 }]);
    await reader.end();
  });

  test("has a run once, says so, and keeps a later one", async () => {
    const before = await current();
    const again = await command(["deliver"]);
    assert.deepEqual([again.code, again.stdout], [0, `postgres: already has ${before}\n`], again.stderr);
    assertRefused(await command(["deliver", "1"]), /has the later run \d+ .* so run 1 \(000001-/);
    assert.equal(await loaded(), before);
  });

  test("publishes the run where it cannot connect or may not write, and delivers it later", async () => {
    const before = await current();
    const refused = await run(SMALL, { PGHOST: out });
    assertRefused(refused, /is published, but was not delivered to postgres: PostgreSQL at .*ENOENT/);
    assert.deepEqual([(await current()) === before, await loaded()], [false, before]);
    await admin.query("CREATE ROLE guest LOGIN");
    const forbidden = await command(["deliver"], { PGUSER: "guest" });
    assertRefused(forbidden, /permission denied for database reports; GRANT CREATE ON DATABASE/);
    await admin.query("ALTER SCHEMA content_warehouse OWNER TO postgres");
    assertRefused(await command(["deliver"]), /permission denied for schema content_warehouse; GRANT CREATE/);
    assert.deepEqual([await loaded(), await schemas()], [before, [CURRENT]]);
    await admin.query("ALTER SCHEMA content_warehouse OWNER TO loader");
    await deliverLate();
  });

  test("refuses while another delivery is under way, and leaves nothing where one is killed", async () => {
    const other = await server.connect("loader", "reports");
    await other.query("BEGIN");
    const key = "content-warehouse delivery to content_warehouse";
    await other.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [key]);
    await other.query("CREATE SCHEMA content_warehouse_new");
    const refused = await run(SMALL);
    assertRefused(refused, /Another delivery to the schema content_warehouse is under way/);
    const { rows } = await other.query("SELECT pg_backend_pid() AS pid");
    other.on("error", () => {});
    await admin.query("SELECT pg_terminate_backend($1)", [rows[0].pid]);
    await deliverLate();
  });

  test("leaves nothing where the run is stopped in mid-copy, or while a reader has the old one", async (t) => {
    const before = await current();
    const reader = await server.connect("postgres", "reports");
    t.after(() => reader.end());
    await reader.query("BEGIN");
    assert.equal(await loaded(reader), before);
    const host = server.env("loader").PGHOST ?? "";
    const target = postgres({ url: `postgres://loader@localhost/reports?host=${host}` });
    const found = await findRun(outputFolder(out), "current");
    const reason = new Error("stopped");
    const stopped = async (
      isUnderWay: () => Promise<boolean>,
      changed: (run: DeliveredRun) => DeliveredRun,
    ) => {
      const stop = new AbortController();
      const options = { runs: [], temporaryDirectory: out, signal: stop.signal, onProgress: () => {} };
      const published = await readDeliveredRun(found, options);
      const run = changed({ ...published, sequence: published.sequence + 1 });
      const delivery = target.stage(run).then(({ commit }) => commit());
      await until("it is under way", isUnderWay, { ended: delivery });
      stop.abort(reason);
      await assert.rejects(delivery, (thrown) => thrown === reason);
      await until("its statements have ended", async () => (await rowsIn(OPEN)).length === 0);
      assert.deepEqual([await schemas(), await loaded()], [[CURRENT], before]);
    };
    const asks = async (query: string) =>
      (await rowsIn(OPEN)).some(([text]) => String(text).startsWith(query));
    let isCopying = false;
    async function* endless(rows: AsyncIterable<readonly Cell[]>) {
      for await (const row of rows) {
        isCopying = true;
        for (;;) {
          yield row;
          await setTimeout(10);
        }
      }
    }
    await stopped(
      async () => isCopying && (await asks("COPY")),
      (run) => ({
        ...run,
        tables: run.tables.map((each) => ({ ...each, cells: () => endless(each.cells()) })),
      }),
    );
    await stopped(
      () => asks("ROLLBACK TO"),
      (run) => run,
    );
  });

  test("lets views of others read each new run, and refuses where one cannot", async () => {
    await admin.query(`GRANT CREATE ON SCHEMA public TO loader;
      CREATE VIEW public.items WITH (security_barrier=true) AS
        SELECT run, (SELECT count(*)::int FROM content_warehouse.content) AS n FROM content_warehouse.run;
      CREATE VIEW public.items_again AS SELECT * FROM public.items;
      GRANT SELECT ON public.items TO guest;
      ALTER VIEW public.items OWNER TO loader`);
    for (const _ of [1, 2]) {
      await publish(SMALL);
      assert.deepEqual(await rowsIn("SELECT run, n FROM public.items_again"), [[await current(), 500]]);
    }
    const kept = `SELECT reloptions, has_table_privilege('guest', oid, 'SELECT') FROM pg_class WHERE relname = 'items'`;
    assert.deepEqual(await rowsIn(kept), [[["security_barrier=true"], true]]);
    const before = await current();
    await admin.query("ALTER VIEW public.items OWNER TO postgres");
    const refused = await run(SMALL);
    assertRefused(refused, /The view public\.items cannot read the new run \(must be owner of view items\)/);
    assert.deepEqual(await rowsIn("SELECT run FROM public.items_again"), [[before]]);
    await admin.query("DROP VIEW public.items_again, public.items");
    await deliverLate();
  });

  test("never drops what others have made on an earlier run", async () => {
    await admin.query(`CREATE MATERIALIZED VIEW public.copied AS SELECT run FROM content_warehouse.run;
      CREATE TABLE public.notes (content_id text REFERENCES content_warehouse.content)`);
    const before = await current();
    const refused = await run(SMALL);
    assertRefused(refused, /Objects of others depend on an earlier run, .*constraint notes_content_id_fkey/s);
    assert.match(refused.stderr, /materialized view public\.copied/);
    assert.deepEqual([await loaded(), await schemas()], [before, [CURRENT]]);
    await admin.query("DROP MATERIALIZED VIEW public.copied; DROP TABLE public.notes");
    await deliverLate();
  });

  test("check proves that it can be written to, and says why not", async () => {
    const good = await command(["check", "--sample"]);
    assert.match(good.stdout, /ok +targets +postgres: has run \d+, can be written to\n/);
    assert.deepEqual(await schemas(), [CURRENT]);
    const bad = await command(["check", "--sample"], { PGUSER: "guest" });
    assert.equal(bad.code, 26, bad.stderr);
    assert.match(bad.stdout, /failed +targets +PostgreSQL at \S+ failed: permission denied/);
  });

  test("takes two runs of one second and one name for two", async (t) => {
    const host = server.env("loader").PGHOST ?? "";
    const target = postgres({ url: `postgres://loader@localhost/reports?host=${host}`, schema: "shared" });
    const commentOf = async () => {
      const said = await rowsIn("SELECT obj_description('shared'::regnamespace)");
      return JSON.parse(String(said[0]?.[0]));
    };
    const world = await worldOf(t, target);
    await nightOn(world, "A", 0);
    await cp(world.folders.A, world.folders.B, { recursive: true, verbatimSymlinks: true });
    let won: RunSummary | undefined;
    const lost = await nightOn(world, "B", 1, async () => {
      won = await nightOn(world, "A", 1);
    });
    assert.deepEqual([won?.run, won && exitCodeOf(won)], [lost.run, 0]);
    const [failure] = lost.deliveries.map((each) => each.failure);
    assert.equal(failure?.code, "target.fenced");
    assert.equal((await commentOf()).sha256, await digestIn(join(world.folders.A, "current")));
    world.warnings.B.length = 0;
    for (const night of [1.25, 1.5]) {
      assert.equal(exitCodeOf(await nightOn(world, "B", night)), 0);
      assert.equal((await commentOf()).sha256, await digestIn(join(world.folders.B, "current")));
    }
    assert.equal(world.warnings.B.length, 1, world.warnings.B.join("\n"));
    assert.match(world.warnings.B[0] ?? "", /from another machine, and keeps no runs, so this run cannot/);
    await admin.query("DROP SCHEMA shared CASCADE");
  });

  test("touches no schema of somebody else's, and none of another instance", async () => {
    await admin.query("ALTER SCHEMA content_warehouse RENAME TO ours; CREATE SCHEMA content_warehouse");
    assertRefused(await command(["deliver"]), /content_warehouse was not made by a delivery, so it is left/);
    await admin.query("DROP SCHEMA content_warehouse; ALTER SCHEMA ours RENAME TO content_warehouse");
    const text = (await rowsIn("SELECT obj_description('content_warehouse'::regnamespace)"))[0]?.[0];
    const other = {
      ...JSON.parse(String(text)),
      instance: { id: "other", origin: "https://other.example.com" },
    };
    await admin.query(`COMMENT ON SCHEMA content_warehouse IS '${JSON.stringify(other)}'`);
    assertRefused(
      await command(["deliver"]),
      /has the content of https:\/\/other\.example\.com \(instance other/,
    );
  });
});
