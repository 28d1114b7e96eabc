/** Other engines read the lake: three instances over two nights, value by value as in the local DuckDB files. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { packagePath } from "../../src/common/package-root.ts";
import { DATABASE_FILE } from "../../src/warehouse/layout.ts";
import {
  ENGINES,
  type Engine,
  type EngineName,
  installEngine,
  lakePython,
  type Probes,
  startEngine,
  type TableRows,
} from "./lake-engine.ts";
import { deliver, INSTANCES, type LakeNight, makeNights } from "./lake-nights.ts";
import { type S3Server, startS3 } from "./s3-server.ts";

type Night = LakeNight["night"];

const nights = await makeNights();
const TABLES = [...new Set(nights.flatMap(tablesOf))].toSorted();
/** Of all types, of one instance alone, of the run, and one without rows. */
const SOME_TABLES = ["content", "content_events", "odd_values", "run", "run_rejects"];

let folder: string;
/** Both are lakes of all nights. */
let places: { readonly folder: string; readonly bucket: string };
let s3: S3Server;
const engines = new Map<EngineName, Engine>();
/** Why an engine could not be installed: what needs it is left out, and says so. */
const missing = new Map<EngineName, string>();

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "lake-engines-"));
  s3 = await startS3();
  Object.assign(process.env, s3.env);
  places = { folder: join(folder, "lake"), bucket: `s3://${s3.bucket}/lake` };
  for (const each of nights) {
    await deliver(each, { url: pathToFileURL(places.folder).href });
    await deliver(each, { url: places.bucket, endpoint: s3.endpoint });
  }
  for (const name of ENGINES) {
    try {
      await installEngine(name);
    } catch (thrown) {
      if (process.env.CI !== undefined) throw thrown;
      missing.set(name, `${name} could not be installed: ${thrown}`);
      continue;
    }
    engines.set(name, await startEngine(name, s3));
  }
});

after(async () => {
  for (const engine of engines.values()) await engine[Symbol.asyncDispose]();
  await s3?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

function tablesOf({ run }: LakeNight): string[] {
  return run.manifest instanceof Error ? assert.fail(run.manifest) : Object.keys(run.manifest.rows);
}

/** Whether the test is left out. */
function isSkipped(t: TestContext, ...needed: readonly EngineName[]): boolean {
  const reason = needed.flatMap((name) => missing.get(name) ?? [])[0];
  if (reason !== undefined) t.skip(reason);
  return reason !== undefined;
}

function engineOf(name: EngineName): Engine {
  return engines.get(name) ?? assert.fail(`${name} was not started`);
}

/** What the local DuckDB files of a night have. */
async function local(night: Night, tables: readonly string[]) {
  const merged: Record<string, { types: TableRows["types"]; instances: Record<string, unknown> }> = {};
  for (const each of nights.filter((of) => of.night === night)) {
    const there = tablesOf(each).filter((table) => tables.includes(table));
    const file = join(each.run.directory, DATABASE_FILE);
    const found = await engineOf("duckdb").database(file, each.instance, there);
    for (const [table, { types, instances }] of Object.entries(found)) {
      merged[table] ??= { types, instances: {} };
      Object.assign(merged[table].instances, instances);
    }
  }
  return merged;
}

/** The newest version of each table, or the one at which the last instance had its first night. */
async function versions(lake: string, night: Night, tables: readonly string[]) {
  if (night === 2) return Object.fromEntries(tables.map((table) => [table, null]));
  const rows = await engineOf("duckdb")
    .at(lake)
    .query(
      "SELECT table_name, max(table_version) FROM run_snapshots WHERE sequence = 1 GROUP BY table_name",
      ["run_snapshots"],
    );
  const known = new Map(rows.map(([table, version]) => [table, Number(version)]));
  return Object.fromEntries(tables.map((table) => [table, known.get(table) ?? assert.fail(table)]));
}

for (const place of ["folder", "bucket"] as const) {
  suite(`the tables of both nights are read from a ${place}`, () => {
    for (const name of ENGINES) {
      // Spark takes seconds for each table of a night.
      const tablesOn = (night: Night) =>
        name === "spark" || place === "bucket" || night === 1 ? SOME_TABLES : TABLES;
      test(`by ${name}`, async (t) => {
        if (isSkipped(t, name, "duckdb")) return;
        // The bucket has the files of the folder.
        for (const night of place === "bucket" ? ([2] as const) : ([1, 2] as const)) {
          const tables = tablesOn(night);
          const read = await engineOf(name)
            .at(places[place])
            .tables(await versions(places[place], night, tables));
          assert.deepEqual(read, await local(night, tables));
        }
      });
    }
  });
}

/** Each way of an engine to read a filtered table; all take what the log says of the files as they like. */
const FILTERS: readonly (readonly [name: EngineName, by: string])[] = [
  ["duckdb", "delta_scan"],
  ["clickhouse", "deltaLakeLocal"],
  ["delta-rs", "query"],
  ["delta-rs", "pyarrow"],
  ["delta-rs", "duckdb"],
  ["polars", "scan"],
  ["polars", "pyarrow"],
  ["spark", "sql"],
];

suite("a filter on each column of each table finds what the local DuckDB files have", () => {
  const second = nights.filter(({ night }) => night === 2);
  const probesOf = (tables: readonly string[]) => {
    const files = second.map(({ instance, run }) => [instance, join(run.directory, DATABASE_FILE)]);
    return engineOf("duckdb").probes(Object.fromEntries(files), tables);
  };
  const counts = (probes: Probes) =>
    Object.fromEntries(
      Object.entries(probes).map(([table, columns]) => {
        const found = Object.entries(columns).map(([column, [, , rows]]) => [column, rows]);
        return [table, Object.fromEntries(found)];
      }),
    );

  for (const [name, by] of FILTERS) {
    test(`by ${name}, ${by}`, async (t) => {
      if (isSkipped(t, name, "duckdb")) return;
      // All tables by the one that is fastest; Spark takes half a second for each filter.
      const tables = name === "spark" ? ["odd_values"] : by === "query" ? TABLES : SOME_TABLES;
      const probes = await probesOf(tables);
      assert.deepEqual(await engineOf(name).at(places.folder).filter(probes, by), counts(probes));
    });
  }
});

const STATEMENTS = packagePath("docs/examples/lake");
const ASKED = ["content", "content_types", "content_mapped_values", "run"];

async function statements(): Promise<readonly (readonly [file: string, sql: string])[]> {
  const files = (await readdir(STATEMENTS)).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(STATEMENTS, file), "utf8")));
  return files.map((file, place) => [file, texts[place] ?? ""]);
}

suite("statements over all instances", () => {
  test("have equal results in Spark, ClickHouse and DuckDB", async (t) => {
    if (isSkipped(t, "spark", "clickhouse", "duckdb")) return;
    for (const [file, sql] of await statements()) {
      const expected = await engineOf("duckdb").at(places.folder).query(sql, ASKED);
      assert.ok(expected.length >= INSTANCES.length, file);
      for (const name of ["spark", "clickhouse"] as const)
        assert.deepEqual(
          await engineOf(name).at(places.folder).query(sql, ASKED),
          expected,
          `${file} by ${name}`,
        );
    }
  });

  test("find who is late", async (t) => {
    if (isSkipped(t, "duckdb")) return;
    const sql = await readFile(join(STATEMENTS, "late-instances.sql"), "utf8");
    const late = async (text: string) =>
      (await engineOf("duckdb").at(places.folder).query(text, ASKED)).map((row) => row[4]);
    assert.deepEqual(await late(sql), ["on time", "on time", "on time"]);
    assert.deepEqual(await late(sql.replace("'26'", "'0'")), ["late", "late", "on time"]);
  });
});

test("docs/lake.md has statements that run", async (t) => {
  if (isSkipped(t, ...ENGINES)) return;
  const page = (await readFile(packagePath("docs/lake.md"), "utf8")).replaceAll("/srv/lake", places.folder);
  const sql = [...page.matchAll(/^ *```sql (\w+)\n([\s\S]*?)```/gm)];
  assert.deepEqual(
    sql.map(([, name]) => name),
    ["duckdb", "clickhouse", "spark", "duckdb"],
  );
  const items = await engineOf("polars").at(places.folder).tables({ content: null });
  const expected = INSTANCES.map((name) => [name, String(items.content?.instances[name]?.[0])]);
  for (const [, name, text = ""] of sql.slice(0, 3))
    assert.deepEqual(
      await engineOf(name as EngineName)
        .at(places.folder)
        .query(text, []),
      expected,
      name,
    );
  const [, , snapshots = ""] = sql[3] ?? [];
  const rows = await engineOf("duckdb").at(places.folder).query(snapshots, []);
  assert.equal(
    rows.length,
    nights.filter(({ instance }) => instance === "north").flatMap(tablesOf).length / 2,
  );
  const python = [...page.matchAll(/^```python\n([\s\S]*?)```/gm)];
  assert.equal(python.length, 2);
  for (const [, text = ""] of python) {
    const { stdout } = await promisify(execFile)(await lakePython(), ["-c", text]);
    assert.equal(stdout.trim(), expected[0]?.[1]);
  }
});
