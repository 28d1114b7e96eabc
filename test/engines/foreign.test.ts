/** Spark changes tables of a lake. The next delivery is right, or is refused until the named statements have run. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, suite, type TestContext, test } from "node:test";
import type { DeliveredRun } from "../../src/pipeline.ts";
import { integer } from "../../src/tables/declare.ts";
import { readTable } from "../../src/targets/lake/delta/log.ts";
import { fieldsOf } from "../../src/targets/lake/delta/metadata.ts";
import { lakeIn } from "../../src/targets/lake/lake.ts";
import { verifyLake } from "../../src/targets/lake/stored-run.ts";
import { FileStore } from "../../src/targets/store/file-store.ts";
import { temporaryFolder } from "../folders.ts";
import { deliver } from "../targets/lake/deliver.ts";
import { makeRun, mark } from "../targets/lake/runs.ts";
import { ENGINES, type Engine, installEngine, type LakeReader, startEngine } from "./lake-engine.ts";
import { type S3Server, startS3 } from "./s3-server.ts";

/** Statements on tables that are named after them. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  edited: [
    "DELETE FROM LAKE_TABLE WHERE id = 1",
    "UPDATE LAKE_TABLE SET run = 'changed' WHERE id = 2",
    "INSERT INTO LAKE_TABLE (instance, id, run) VALUES ('one', 9, 'theirs')",
  ],
  emptied: ["DELETE FROM LAKE_TABLE"],
  maintained: ["OPTIMIZE LAKE_TABLE", "OPTIMIZE LAKE_TABLE", "VACUUM LAKE_TABLE RETAIN 0 HOURS"],
  column_added: ["ALTER TABLE LAKE_TABLE ADD COLUMNS (noted STRING)", "UPDATE LAKE_TABLE SET noted = 'x'"],
  described: [
    "COMMENT ON TABLE LAKE_TABLE IS 'theirs'",
    "ALTER TABLE LAKE_TABLE ALTER COLUMN run COMMENT 'theirs'",
    "ALTER TABLE LAKE_TABLE SET TBLPROPERTIES ('team' = 'analysts')",
  ],
  restored: ["DELETE FROM LAKE_TABLE WHERE id = 1", "RESTORE TABLE LAKE_TABLE TO VERSION AS OF 0"],
};

const set = (property: string) => `ALTER TABLE LAKE_TABLE SET TBLPROPERTIES (${property})`;
/** Features that block a delivery: what the message names, and the statements that add them. */
const BLOCKING: Readonly<Record<string, readonly [has: string, ...statements: string[]]>> = {
  constrained: ["the constraint low", "ALTER TABLE LAKE_TABLE ADD CONSTRAINT low CHECK (id < 100)"],
  fed: ["the property delta.enableChangeDataFeed", set("'delta.enableChangeDataFeed' = 'true'")],
  grown: ["the property delta.appendOnly", set("'delta.appendOnly' = 'true'")],
  mapped: [
    "columnMapping",
    set("'delta.columnMapping.mode' = 'name'"),
    "ALTER TABLE LAKE_TABLE ADD COLUMNS (noted STRING)",
  ],
  tracked: ["rowTracking and domainMetadata", set("'delta.enableRowTracking' = 'true'")],
  timed: ["inCommitTimestamp", set("'delta.enableInCommitTimestamps' = 'true'")],
  vectored: [
    "deletionVectors",
    set("'delta.enableDeletionVectors' = 'true'"),
    "DELETE FROM LAKE_TABLE WHERE id = 1",
  ],
  checkpointed: ["v2Checkpoint", set("'delta.checkpointPolicy' = 'v2'")],
  with_default: [
    "CURRENT_DEFAULT on its column extra",
    set("'delta.feature.allowColumnDefaults' = 'supported'"),
    "ALTER TABLE LAKE_TABLE ALTER COLUMN extra SET DEFAULT 5",
  ],
};

const folder = await temporaryFolder({ after });
const lake = join(folder, "lake");
const store = new FileStore(lake, new AbortController().signal);
after(() => store[Symbol.asyncDispose]());

let s3: S3Server;
const engines = new Map<string, Engine>();
let missing = "";

before(async () => {
  s3 = await startS3();
  try {
    await installEngine("spark");
  } catch (thrown) {
    if (process.env.CI !== undefined) throw thrown;
    missing = `Spark could not be installed: ${thrown}`;
    return;
  }
  for (const name of ENGINES) engines.set(name, await startEngine(name, s3));
});
after(async () => {
  for (const engine of engines.values()) await engine[Symbol.asyncDispose]();
  await s3?.[Symbol.asyncDispose]();
});

function spark(t: TestContext): LakeReader | undefined {
  const engine = engines.get("spark");
  if (engine === undefined) t.skip(missing);
  return engine?.at(lake);
}

/** All engines read the same from the newest versions. */
async function assertAgree(tables: readonly string[]): Promise<void> {
  const newest = Object.fromEntries(tables.map((table) => [table, null]));
  const read = (each: Engine) => each.at(lake).tables(newest);
  const expected = await read(engines.get("spark") ?? assert.fail());
  for (const [name, each] of engines) assert.deepEqual(await read(each), expected, name);
}

const on = (instance: string) => lakeIn(async () => store, { instance });
const ROWS = 4;

/** The run that each machine made last, which its next one continues. */
const made = new Map<string, DeliveredRun>();

async function run(machine: string, sequence: number, tables: readonly string[]): Promise<DeliveredRun> {
  const extra = [integer("extra", { comment: "More." })];
  const last = made.get(machine);
  const next = await makeRun(folder, {
    sequence,
    machine,
    ...(last && { after: last }),
    tables: Object.fromEntries(tables.map((name) => [name, ROWS])),
    columns: Object.fromEntries(tables.map((name) => [name, extra])),
  });
  made.set(machine, next);
  return next;
}

type Rows = readonly (readonly (string | null)[])[];

/** Rows of each table by instance and run, as Spark reads them in one question. */
async function rowsOf(
  reader: LakeReader,
  tables: readonly string[],
): Promise<Readonly<Record<string, Rows>>> {
  const each = tables.map(
    (table) => `SELECT '${table}' AS name, instance, run, count(*) AS rows FROM ${table} GROUP BY ALL`,
  );
  const found = await reader.query(`${each.join(" UNION ALL ")} ORDER BY name, instance, run`, tables);
  const rows = (table: string) => found.filter(([name]) => name === table).map(([, ...cells]) => cells);
  return Object.fromEntries(tables.map((table) => [table, rows(table)]));
}

/** Of each of the tables. */
function all(tables: readonly string[], rows: (table: string) => Rows): Readonly<Record<string, Rows>> {
  return Object.fromEntries(tables.map((table) => [table, rows(table)]));
}

async function twoInstances(tables: readonly string[]): Promise<void> {
  for (const instance of ["one", "two"]) await deliver(on(instance), await run(instance, 1, tables));
}

const rowsIn = (sequence: number) => ["one", mark("one", sequence), String(ROWS)];

const { signal } = new AbortController();

suite("what Spark does to a table", () => {
  test("and the next delivery makes right", async (t) => {
    const reader = spark(t);
    if (reader === undefined) return;
    const tables = Object.keys(ALLOWED);
    await twoInstances(tables);
    await reader.write(ALLOWED);
    await assertAgree(tables);
    const before = await rowsOf(reader, tables);
    const others = (table: string) => (before[table] ?? []).filter(([instance]) => instance === "two");
    await deliver(on("one"), await run("one", 2, tables));
    assert.deepEqual(
      await rowsOf(reader, tables),
      all(tables, (table) => [rowsIn(2), ...others(table)]),
    );
    await assertAgree(tables);
    const verified = await on("one").open(signal, (place) => verifyLake(place, { full: true }));
    assert.deepEqual(verified.findings, []);
    const state = async (table: string) => (await readTable(store, table)) ?? assert.fail();
    const described = await state("described");
    assert.equal(described.metaData.description, "theirs");
    assert.equal(fieldsOf(described).find(({ name }) => name === "run")?.metadata.comment, "theirs");
    assert.equal(described.metaData.configuration.team, "analysts");
    const added = await reader.query("SELECT noted FROM column_added WHERE instance = 'one' LIMIT 1", [
      "column_added",
    ]);
    assert.deepEqual(added, [[null]]);
  });

  test("and nothing is delivered until the statements that we name were run", {
    timeout: 900_000,
  }, async (t) => {
    const reader = spark(t);
    if (reader === undefined) return;
    const names = Object.keys(BLOCKING).toSorted();
    const tables = [...names, "free"];
    const [first, second] = [await run("one", 3, tables), await run("one", 4, tables)];
    await deliver(on("one"), first);
    const blocking = Object.entries(BLOCKING).map(([table, [, ...statements]]) => [table, statements]);
    await reader.write(Object.fromEntries(blocking));
    const before = await rowsOf(reader, ["free"]);
    const named = new Map<string, string>();
    // A table that cannot even be read is named alone, so what is refused is delivered again.
    for (let refused = true; refused; ) {
      const sentences = await deliver(on("one"), second).then(
        () => [],
        ({ code, message }: Error & { code?: string }) => {
          assert.equal(code, "target.refused", message);
          return message.split(/ (?=The table )/);
        },
      );
      refused = sentences.length > 0;
      if (refused && named.size === 0) assert.deepEqual(await rowsOf(reader, ["free"]), before);
      const statements: Record<string, readonly string[]> = {};
      for (const sentence of sentences) {
        const name = /^The table (\w+) of the lake has /.exec(sentence)?.[1] ?? assert.fail(sentence);
        assert.ok(!named.has(name), `refused again: ${sentence}`);
        named.set(name, sentence);
        const quoted = [...sentence.matchAll(/"(ALTER TABLE [^"]+)"/g)].map(([, text = ""]) => text);
        statements[name] = quoted.map((text) =>
          text.replace(`ALTER TABLE ${name} `, "ALTER TABLE LAKE_TABLE "),
        );
      }
      await reader.write(statements);
    }
    assert.deepEqual([...named.keys()].toSorted(), names);
    for (const name of names)
      assert.ok(
        named.get(name)?.includes(` has ${BLOCKING[name]?.[0]}, which this program cannot`),
        named.get(name),
      );
    const asRun = (sequence: number) => all(tables, () => [rowsIn(sequence)]);
    assert.deepEqual(await rowsOf(reader, tables), asRun(4));
    const { findings } = await on("one").open(signal, (place) => verifyLake(place, { full: false }));
    assert.deepEqual(findings, []);
    await deliver(on("one"), await run("one", 5, tables));
    assert.deepEqual(await rowsOf(reader, tables), asRun(5));
  });
});
