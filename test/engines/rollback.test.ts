/** A rollback with a PostgreSQL and a lake as targets, by the command; other engines say what their readers see. */
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Client } from "pg";
import { packagePath } from "../../src/common/package-root.ts";
import { removeTree } from "../../src/common/tree.ts";
import { DATABASE_FILE } from "../../src/warehouse/layout.ts";
import { type Outcome, program } from "../cli/running.ts";
import { until } from "../until.ts";
import { type Engine, installEngine, startEngine } from "./lake-engine.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";
import { type S3Server, startS3 } from "./s3-server.ts";

const INSTANCE = "main";
const TABLES = ["content", "content_tags", "run"];
const PIPELINE = packagePath("test/engines/small-pipeline.ts");

let folder: string;
let server: PostgresServer;
let admin: Client;
let s3: S3Server;
let engine: Engine;
/** By their numbers. */
const names = new Map<number, string>();

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "rollback-"));
  server = await startPostgres();
  admin = await server.connect();
  await admin.query("CREATE ROLE loader LOGIN");
  await admin.query("CREATE DATABASE reports");
  await admin.query("GRANT CREATE ON DATABASE reports TO loader");
  await admin.end();
  admin = await server.connect("postgres", "reports");
  const targets = [
    { type: "lake", url: pathToFileURL(join(folder, "lake")).href, instance: INSTANCE },
    { type: "postgres", url: "postgres:///reports" },
  ];
  await writeFile(join(folder, "content-warehouse.config.json"), JSON.stringify({ targets }));
  await installEngine("duckdb");
  s3 = await startS3();
  engine = await startEngine("duckdb", s3);
});

after(async () => {
  await engine?.[Symbol.asyncDispose]();
  await s3?.[Symbol.asyncDispose]();
  await admin?.end();
  await server?.[Symbol.asyncDispose]();
  await removeTree(folder);
});

type Env = Readonly<Record<string, string>>;

function command(
  words: string,
  { env = {}, begun = () => {} }: { readonly env?: Env; readonly begun?: (child: ChildProcess) => void } = {},
): Promise<Outcome> {
  return program(words.split(" "), { cwd: folder, env: { ...server.env("loader"), ...env }, begun });
}

/** Publishes and delivers; gives the number. */
async function night(): Promise<number> {
  const { code, stderr } = await command(`run ${PIPELINE} --sample --config content-warehouse.config.json`);
  assert.equal(code, 0, stderr);
  const { stdout } = await command("runs show --format json");
  const { run, sequence } = JSON.parse(stdout);
  names.set(sequence, run);
  return sequence;
}

const nameOf = (number: number) => names.get(number) ?? assert.fail(`there is no run ${number}`);

async function inPostgres(schema = "content_warehouse"): Promise<number> {
  const { rows } = await admin.query(
    `SELECT run, (SELECT count(*)::int FROM ${schema}.content) AS n FROM ${schema}.run`,
  );
  const [{ run, n }] = rows;
  assert.equal(n, 500);
  return Number(run.split("-")[0]);
}

/** What DuckDB finds in the newest versions of the lake's tables: the rows of the run, value by value. */
async function assertInLake(number: number): Promise<void> {
  const file = join(folder, "warehouse/runs", nameOf(number), DATABASE_FILE);
  const published = await engine.database(file, INSTANCE, TABLES);
  const newest = Object.fromEntries(TABLES.map((table) => [table, null]));
  const found = await engine.at(join(folder, "lake")).tables(newest);
  for (const table of TABLES) assert.deepEqual(found[table]?.instances, published[table]?.instances, table);
}

async function snapshots(): Promise<readonly string[]> {
  const sql = "SELECT DISTINCT delivery, run FROM run_snapshots ORDER BY delivery";
  const rows = await engine.at(join(folder, "lake")).query(sql, ["run_snapshots"]);
  return rows.map(([delivery, run]) => `${delivery}: ${Number(String(run).split("-")[0])}`);
}

async function says(): Promise<readonly string[]> {
  const { stdout } = await command("runs show --section targets --format json");
  return JSON.parse(stdout).targets.map(({ says }: { says: string }) => says);
}

suite("a rollback with two targets", () => {
  test("says what they serve, and brings them back", async () => {
    await night();
    await night();
    await admin.query(`CREATE VIEW public.items AS SELECT run FROM content_warehouse.run;
      GRANT CREATE ON SCHEMA public TO loader; ALTER VIEW public.items OWNER TO loader`);
    const rolledBack = await command("runs rollback 1");
    assert.equal(rolledBack.code, 0, rolledBack.stderr);
    assert.match(rolledBack.stdout, /"content-warehouse runs rollback 1 --deliver" brings them to it/);
    const refused = await command("deliver");
    assert.equal(refused.code, 26, refused.stderr);
    assert.equal(
      refused.stderr.match(/can only be delivered by a rollback: "content-warehouse runs/g)?.length,
      2,
    );
    assert.equal(await inPostgres(), 2);

    const back = await command("runs rollback 1 --deliver");
    assert.equal(back.code, 0, back.stderr);
    assert.equal(await inPostgres(), 1);
    assert.deepEqual((await admin.query("SELECT run FROM public.items")).rows, [{ run: nameOf(1) }]);
    await assertInLake(1);
    assert.deepEqual(await snapshots(), ["1: 1", "2: 2", "3: 1"]);
    assert.deepEqual(await says(), Array(2).fill("run 1, as here, after a rollback from run 2"));
    const again = await command("runs rollback 1 --deliver");
    assert.match(again.stdout, /\nlake: already has .*\npostgres: already has /);
  });

  test("is undone by another, and comes again", async () => {
    const forward = await command("runs rollback 2 --deliver");
    assert.equal(forward.code, 0, forward.stderr);
    assert.deepEqual([await inPostgres(), await says()], [2, Array(2).fill("run 2, as here")]);
    await assertInLake(2);
    const back = await command("runs rollback 1 --deliver");
    assert.equal(back.code, 0, back.stderr);
    assert.equal(await inPostgres(), 1);
    assert.deepEqual(await snapshots(), ["1: 1", "2: 2", "3: 1", "4: 2", "5: 1"]);
    assert.deepEqual((await admin.query("SELECT run FROM public.items")).rows, [{ run: nameOf(1) }]);
  });

  test("is followed by nights that are delivered as ever", async () => {
    assert.equal(await night(), 3, "the number after the last run, whatever the deliveries");
    assert.deepEqual([await inPostgres(), await says()], [3, Array(2).fill("run 3, as here")]);
    await assertInLake(3);
    assert.deepEqual((await snapshots()).at(-1), "6: 3");
  });

  test("leaves PostgreSQL the run before, whole, where it is killed while it waits for readers", async () => {
    const reader = await server.connect("postgres", "reports");
    await reader.query("BEGIN");
    await reader.query("SELECT run FROM content_warehouse.run");
    // The swap waits for the reader, with all else done.
    const waits = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE 'ROLLBACK TO%'";
    let child: ChildProcess | undefined;
    const dying = command("runs rollback 2 --deliver", {
      begun: (begun) => {
        child = begun;
      },
    });
    await until("it waits", async () => (await admin.query(waits)).rows[0].n > 0, { ended: dying });
    child?.kill("SIGKILL");
    assert.equal((await dying).code, null);
    await reader.end();
    assert.equal(await inPostgres(), 3);
    await assertInLake(2);
    const made = await command("runs rollback 2 --deliver");
    assert.equal(made.code, 0, made.stderr);
    assert.equal(await inPostgres(), 2);
    await assertInLake(2);
    assert.deepEqual(await says(), Array(2).fill("run 2, as here, after a rollback from run 3"));
  });
});
