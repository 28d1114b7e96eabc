import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { DuckDBInstance } from "@duckdb/node-api";
import { openForBuilding, openForReading } from "../../src/storage/database.ts";
import { all, execute, scalar } from "../../src/storage/duckdb.ts";
import { duckdbError } from "../../src/storage/duckdb-error.ts";
import { exactPattern, quoteLiteral } from "../../src/storage/sql-text.ts";
import { failsWith } from "../failing.ts";
import { build, HOSTILE_NAME, temporaryFolder } from "../load/fixtures.ts";

const reading = (file: string, allowedDirectories: string[] = []) =>
  openForReading({
    file,
    temporaryDirectory: join(file, "..", "tmp"),
    allowedDirectories,
    memoryLimitMb: undefined,
    threads: undefined,
  });

/** Statements that reach out of the folder, by what they would do. */
function escapes(folder: string): Record<string, string> {
  const outside = quoteLiteral(join(folder, "..", "outside.parquet"));
  return {
    "COPY out of the folder": `COPY (SELECT 1) TO ${outside} (FORMAT parquet)`,
    "COPY over ..": `COPY (SELECT 1) TO ${quoteLiteral(`${folder}/../outside.csv`)}`,
    "ATTACH out of the folder": `ATTACH ${quoteLiteral(join(folder, "..", "outside.duckdb"))} AS outside`,
    read_text: "SELECT * FROM read_text('/etc/passwd')",
    sniff_csv: "SELECT * FROM sniff_csv('/etc/passwd')",
    glob: "SELECT * FROM glob('/etc/*')",
    read_parquet: "SELECT * FROM read_parquet('/etc/*.parquet')",
    "a web address": "SELECT * FROM 'http://127.0.0.1:9/x.parquet'",
    INSTALL: "INSTALL httpfs",
    LOAD: "LOAD httpfs",
    "SET enable_external_access": "SET enable_external_access = true",
    "SET allowed_directories": "SET allowed_directories = ['/']",
    "SET memory_limit": "SET memory_limit = '9GB'",
    "SET TimeZone": "SET TimeZone = 'Pacific/Apia'",
    "SET lock_configuration": "SET lock_configuration = false",
    "RESET threads": "RESET threads",
    "PRAGMA threads": "PRAGMA threads = 9",
  };
}

test("S13: a database that is built reaches nothing outside of its folder", async (t) => {
  const folder = await temporaryFolder(t);
  await using database = await build(folder);
  for (const [what, sql] of Object.entries(escapes(folder))) {
    await assert.rejects(execute(database.connection, sql), { name: "WarehouseError" }, what);
  }
  assert.deepEqual(await readdir(join(folder, "..")), [HOSTILE_NAME]);
});

test("S13: a published database is read-only and reaches nothing at all", async (t) => {
  const folder = await temporaryFolder(t);
  const database = await build(folder);
  await execute(database.connection, "CREATE TABLE t AS SELECT 1 AS a");
  await execute(database.connection, `COPY t TO ${quoteLiteral(join(folder, "t.parquet"))} (FORMAT parquet)`);
  await database.close();
  await using reader = await reading(join(folder, "warehouse.duckdb"));
  const inside = {
    "COPY into the folder": `COPY (SELECT 1) TO ${quoteLiteral(join(folder, "x.csv"))}`,
    "read within the folder": `SELECT * FROM read_parquet(${quoteLiteral(join(folder, "t.parquet"))})`,
    INSERT: "INSERT INTO t VALUES (2)",
    CREATE: "CREATE TABLE u (a INTEGER)",
    DROP: "DROP TABLE t",
  };
  for (const [what, sql] of Object.entries({ ...escapes(folder), ...inside })) {
    await assert.rejects(execute(reader.connection, sql), { name: "WarehouseError" }, what);
  }
  assert.equal(await scalar(reader.connection, "SELECT a FROM t"), 1);
});

test("S13, S15: within its folder a hardened database builds, spills, copies and reads, whatever the folder's name", async (t) => {
  for (const name of [HOSTILE_NAME, "a [c] x=1", "*", "%41 #$HOME ~", "new\nline"]) {
    const folder = await temporaryFolder(t, name);
    const database = await build(folder);
    const file = quoteLiteral(join(folder, "a.parquet"));
    await execute(
      database.connection,
      "CREATE TEMP TABLE big AS SELECT i, md5(i::VARCHAR) AS t FROM range(50000) r(i)",
    );
    await execute(database.connection, `COPY (SELECT * FROM big ORDER BY t) TO ${file} (FORMAT parquet)`);
    await execute(database.connection, "CREATE TABLE kept AS SELECT count(*) AS n FROM big");
    await database.close();
    assert.deepEqual((await readdir(folder)).toSorted(), ["a.parquet", "warehouse.duckdb"]);
    await using reader = await reading(join(folder, "warehouse.duckdb"));
    assert.equal(await scalar(reader.connection, "SELECT n FROM kept"), 50_000);
  }
});

test("Z9: closing leaves everything in the database file and no log beside it", async (t) => {
  const folder = await temporaryFolder(t);
  const database = await build(folder);
  await execute(database.connection, "CREATE TABLE t AS SELECT 1 AS a");
  await execute(database.connection, "UPDATE t SET a = 2");
  assert.deepEqual(await readdir(folder), ["warehouse.duckdb"], "what is being built has none either");
  await database.close();
  await database.close();
  assert.deepEqual(await readdir(folder), ["warehouse.duckdb"]);
  await using closed = await reading(join(folder, "warehouse.duckdb"));
  assert.equal(await scalar(closed.connection, "SELECT a FROM t"), 2);
});

test("F17: a database with a log beside it is not read", async (t) => {
  const folder = await temporaryFolder(t);
  await (await build(folder)).close();
  await writeFile(join(folder, "warehouse.duckdb.wal"), "stale");
  await assert.rejects(reading(join(folder, "warehouse.duckdb")), { code: "verify.failed" });
});

test("damage that shows only in a query is told as damage, with the way out", async (t) => {
  const folder = await temporaryFolder(t);
  const database = await build(folder);
  const rows = "SELECT i, md5(i::VARCHAR) AS text FROM range(200000) t(i)";
  const parquet = join(folder, "rows.parquet");
  await execute(database.connection, `CREATE TABLE rows AS ${rows}`);
  await execute(database.connection, `COPY (${rows}) TO ${quoteLiteral(parquet)} (FORMAT parquet)`);
  await database.close();
  for (const file of [join(folder, "warehouse.duckdb"), parquet]) {
    const bytes = await readFile(file);
    await writeFile(file, bytes.fill(0x5a, bytes.length >> 2, bytes.length >> 1));
  }
  const told = { code: "verify.failed", exitCode: 31, message: /^A file is damaged .*runs rollback/ };
  await using reader = await reading(join(folder, "warehouse.duckdb"), [folder]);
  const query = (source: string) => all(reader.connection, `SELECT max(text), sum(i) FROM ${source}`);
  await assert.rejects(query("rows"), told);
  await assert.rejects(query(`read_parquet(${quoteLiteral(exactPattern(parquet))})`), told);
});

test("the run before is attached read-only while the next is built", async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, "old"));
  await mkdir(join(folder, "new"));
  const old = await build(join(folder, "old"));
  await execute(old.connection, "CREATE TABLE t AS SELECT 7 AS a");
  await old.close();
  const staging = join(folder, "new");
  await using database = await openForBuilding({
    file: join(staging, "warehouse.duckdb"),
    staging,
    temporaryDirectory: join(staging, "tmp"),
    memoryLimitMb: 128,
    previous: join(folder, "old", "warehouse.duckdb"),
  });
  assert.equal(await scalar(database.connection, "SELECT a FROM previous.t"), 7);
  await assert.rejects(execute(database.connection, "UPDATE previous.t SET a = 8"));
  await database.close();
});

test("G7: sessions are in UTC whatever the machine's zone", async (t) => {
  const folder = await temporaryFolder(t);
  const script = `
    const { build } = await import(${JSON.stringify(new URL("../load/fixtures.ts", import.meta.url))});
    const { all } = await import(${JSON.stringify(new URL("../../src/storage/duckdb.ts", import.meta.url))});
    const database = await build(process.argv[1]);
    const [row] = await all(database.connection, "SELECT (TIMESTAMPTZ '2026-01-01 00:00:00')::VARCHAR AS t");
    await database.close();
    process.stdout.write(row.t);`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "-e", script, folder],
    {
      env: { ...process.env, TZ: "Pacific/Apia", LC_ALL: "tr_TR.UTF-8" },
    },
  );
  assert.equal(stdout, "2026-01-01 00:00:00+00");
});

test("C2: a column named __proto__ is a column, and equal names stay apart", async (t) => {
  await using database = await build(await temporaryFolder(t));
  const [row] = await all(
    database.connection,
    `SELECT 1 AS "__proto__", 2 AS a, 3 AS a, 9007199254740993 AS big`,
  );
  assert.deepEqual(Object.entries(row ?? {}), [
    ["__proto__", 1],
    ["a", 2],
    ["a:1", 3],
    ["big", 9007199254740993n],
  ]);
});

test("a figure that no number can hold is refused rather than rounded", async (t) => {
  await using database = await build(await temporaryFolder(t));
  assert.equal(await scalar(database.connection, "SELECT $1::BIGINT", [2n ** 53n - 1n]), 2 ** 53 - 1);
  await assert.rejects(scalar(database.connection, "SELECT 9007199254740993"), { code: "internal" });
  await assert.rejects(scalar(database.connection, "SELECT NULL"), { code: "internal" });
});

test("F5, S5: what DuckDB throws is told apart, and cells are not repeated", async (t) => {
  const disk = duckdbError(new Error('IO Error: Could not write file "/x": No space left on device'));
  assert.equal(disk.code, "disk.full");
  const invalidated =
    'IO Error: Checkpoint failed for database "warehouse". The database has been invalidated.';
  assert.equal(duckdbError(new Error(invalidated)).code, "disk.io");
  const memory = [
    "Out of Memory Error: could not allocate block of size 256.0 KiB (60.9 MiB/61.0 MiB used)",
    `${invalidated} Original error: failed to pin block of size 256.0 KiB (60.9 MiB/61.0 MiB used)`,
  ];
  for (const line of memory)
    assert.match(duckdbError(new Error(line)).message, /^The database ran out of memory/);
  const full = `${invalidated} Original error: Could not write all bytes to file: No space left on device`;
  assert.equal(duckdbError(new Error(full)).code, "disk.full");
  const instance = await DuckDBInstance.create(":memory:", {
    threads: "1",
    memory_limit: "40MB",
    temp_directory: await temporaryFolder(t),
  });
  const connection = await instance.connect();
  // What the database may spill is what the disk has free: here too little, and not what memory there is.
  await execute(connection, "SET max_temp_directory_size = '1MB'");
  const spilling = execute(
    connection,
    "CREATE TABLE t AS SELECT md5(range::VARCHAR) FROM range(2000000) ORDER BY 1",
  );
  assert.equal((await failsWith("disk.full", spilling)).exitCode, 30);
  await assert.rejects(execute(connection, "SELECT 'canary'::INTEGER"), (error: Error) => {
    assert.match(error.message, /^The database refused a step: Conversion Error\.$/);
    return true;
  });
  await assert.rejects(
    execute(connection, "SELECT nope"),
    /Binder Error: Referenced column "nope" was not found/,
  );
  connection.closeSync();
  instance.closeSync();
});
