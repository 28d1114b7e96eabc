/** A Delta table that we write and deltalake maintains, in turns; polars reads it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { promisify } from "node:util";
import { systemClock } from "../../src/common/clock.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { openForScanning } from "../../src/storage/duckdb.ts";
import { writeParquet } from "../../src/storage/parquet-sql.ts";
import {
  bigint,
  boolean,
  column,
  date,
  defineTable,
  double,
  integer,
  json,
  type Table,
  text,
  timestamp,
} from "../../src/tables/declare.ts";
import { shortenLog } from "../../src/targets/lake/delta/checkpoint.ts";
import { putNext } from "../../src/targets/lake/delta/commit.ts";
import { assertWritable } from "../../src/targets/lake/delta/features.ts";
import { readTable } from "../../src/targets/lake/delta/read.ts";
import { DAY_MS } from "../../src/targets/lake/delta/retention.ts";
import { activeFiles } from "../../src/targets/lake/delta/state.ts";
import { lakeIn } from "../../src/targets/lake/lake.ts";
import { vacuumLake } from "../../src/targets/lake/vacuum.ts";
import { openFileStore } from "../../src/targets/store/file-store.ts";
import { temporaryFolder } from "../folders.ts";
import { NEVER } from "../never.ts";
import { makeRun } from "../targets/lake/runs.ts";
import { pythonWith, READERS } from "./python.ts";

const run = promisify(execFile);

const CONTENT = defineTable({
  name: "content",
  comment: "Items.",
  stage: "item",
  key: ["content_id"],
  columns: [
    text("content_id", { comment: "Item.", required: true }),
    integer("word_count", { comment: "Words." }),
    timestamp("seen_at", { comment: "When it was seen." }),
    date("day", { comment: "Its day." }),
    bigint("total", { comment: "More than 32 bit." }),
    double("share", { comment: "A fraction." }),
    boolean("live", { comment: "Whether it is published." }),
    json("extra", { comment: "What else there is." }),
  ],
});
const WITH_NOTE: Table = {
  ...CONTENT,
  columns: [...CONTENT.columns, column("note", "text", { comment: "A note." })],
};

/** Rows of a run: of its number, the one before and the one after, in a file each. */
function query(instance: string, number: number, note: boolean): string {
  const cells = [
    `'${instance}-${number}' AS content_id`,
    `${number}::INTEGER AS word_count`,
    `TIMESTAMPTZ '2026-11-20 02:00:00.123456+00' + INTERVAL ${number} SECOND AS seen_at`,
    `DATE '2026-11-20' + ${number} AS day`,
    `9007199254740993::BIGINT + ${number} AS total`,
    `${number} / 4 AS share`,
    `${number} % 2 = 0 AS live`,
    `CASE WHEN ${number} % 2 = 0 THEN '{"a":${number}}' END AS extra`,
    ...(note ? [`'note ${number}' AS note`] : []),
  ];
  return `SELECT ${cells.join(", ")}`;
}

/** What polars gives for the row, as texts. */
function row(instance: string, number: number): (string | null)[] {
  const [isEven, isFraction] = [number % 2 === 0, number % 4 !== 0];
  const second = String(number).padStart(2, "0");
  return [
    instance,
    `${instance}-${number}`,
    `${number}`,
    `2026-11-20 02:00:${second}.123456+00:00`,
    `2026-11-${20 + number}`,
    `${9007199254740993n + BigInt(number)}`,
    isFraction ? `${number / 4}` : `${number / 4}.0`,
    isEven ? "True" : "False",
    isEven ? `{"a":${number}}` : null,
  ];
}

const python = await pythonWith(READERS);
const folder = await temporaryFolder({ after });
const store = openFileStore(folder, NEVER);
after(() => store[Symbol.asyncDispose]());

/** What deltalake and polars answer to each statement. */
function ask(...statements: string[]): Promise<unknown[]> {
  return askOf(join(folder, "content"), ...statements);
}

async function askOf(table: string, ...statements: string[]): Promise<unknown[]> {
  const script = packagePath("test/engines/delta.py");
  const { stdout } = await run(python, [script, table, ...statements]);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Delivers a run with two files and gives the version of the table that has it. */
async function deliver(instance: string, sequence: number, table: Table = CONTENT): Promise<number> {
  const files = await Promise.all(
    [sequence, sequence + 1].map(async (number, place) => {
      const path = `instance=${instance}/content-${String(sequence).padStart(6, "0")}-${place}.parquet`;
      const file = join(folder, "content", path);
      const rows = await write(table, query(instance, number, table === WITH_NOTE), file);
      const name = `${instance}-${number}`;
      return {
        path,
        bytes: (await stat(file)).size,
        rows,
        bounds: { column: "content_id", min: name, max: name },
      };
    }),
  );
  const change = { table, instance, number: sequence, run: `run-${sequence}`, files, retentionDays: 30 };
  const state = await readTable(store, table.name);
  assertWritable(state, table);
  const put = await putNext(store, state, change, Date.now());
  assert.ok(typeof put === "object");
  return put.version;
}

async function write(table: Table, statement: string, file: string): Promise<number> {
  await using database = await openForScanning({
    temporaryDirectory: folder,
    allowedDirectories: [folder],
    memoryLimitMb: 256,
    threads: 1,
  });
  return await writeParquet(database.connection, { table, query: { text: statement, params: [] }, file });
}

/** The last run of each instance; what it has is what the table has to show. */
const delivered = new Map<string, number>();

async function deliverAndKeep(instance: string, sequence: number, table?: Table): Promise<number> {
  delivered.set(instance, sequence);
  return deliver(instance, sequence, table);
}

function expected(): (string | null)[][] {
  return [...delivered]
    .flatMap(([instance, number]) => [row(instance, number), row(instance, number + 1)])
    .toSorted();
}

suite("a Delta table that we write and deltalake maintains", () => {
  test("is read as it was written, cell by cell", async () => {
    for (const instance of ["a", "b", "c"]) await deliverAndKeep(instance, 1);
    const [rows, columns, description, version, sequence] = await ask(
      "rows",
      "columns",
      "description",
      "version",
      "sequence b",
    );
    assert.deepEqual(rows, expected());
    assert.deepEqual(columns, [
      ["instance", "string", false],
      ["content_id", "string", false],
      ["word_count", "integer", true],
      ["seen_at", "timestamp", true],
      ["day", "date", true],
      ["total", "long", true],
      ["share", "double", true],
      ["live", "boolean", true],
      ["extra", "string", true],
    ]);
    assert.deepEqual(description, ["content", "Items."]);
    assert.deepEqual([version, sequence], [2, 1]);
  });

  test("shows each version as it was", async () => {
    const before = expected();
    const version = await deliverAndKeep("a", 3);
    assert.deepEqual(await ask("rows", `rows ${version - 1}`, "sequence a"), [expected(), before, 3]);
  });

  test("goes on after its checkpoint, OPTIMIZE and VACUUM", async () => {
    const [, optimized, rows] = await ask("checkpoint", "optimize", "rows");
    assert.equal(optimized, 6);
    assert.deepEqual(rows, expected());
    await deliverAndKeep("b", 2);
    assert.deepEqual(await ask("rows", "checkpoint"), [expected(), null]);
    await deliverAndKeep("a", 4);
    const [removed, after] = await ask("vacuum", "rows");
    assert.ok(Number(removed) >= 6);
    assert.deepEqual(after, expected());
    await deliverAndKeep("b", 3);
    assert.deepEqual(await ask("rows"), [expected()]);
  });

  test("goes on after rows were deleted, which the next run of their instance brings back", async () => {
    assert.deepEqual(await ask("delete content_id = 'c-1'"), [1]);
    await deliverAndKeep("a", 5);
    const without = expected().filter(([, id]) => id !== "c-1");
    assert.deepEqual(await ask("rows"), [without]);
    await deliverAndKeep("c", 2);
    assert.deepEqual(await ask("rows"), [expected()]);
  });

  test("keeps a column that was added there, and gets one of ours", async () => {
    await ask("add_column theirs");
    await deliverAndKeep("a", 6);
    await deliverAndKeep("b", 7, WITH_NOTE);
    const [columns, rows] = (await ask("columns", "rows")) as [string[][], (string | null)[][]];
    assert.deepEqual(
      columns.slice(-2).map(([name]) => name),
      ["theirs", "note"],
    );
    const noted = expected().map((cells) => {
      const [instance, , number] = cells;
      return [...cells, instance === "b" ? `note ${number}` : null];
    });
    assert.deepEqual(rows, noted);
  });

  test("is read from our checkpoint alone, and goes on from there", async () => {
    const state = await readTable(store, "content");
    assert.ok(state !== null);
    await shortenLog(store, state, Date.now());
    const names = (await readdir(join(folder, "content/_delta_log"))).filter((name) => /^\d/.test(name));
    assert.deepEqual(names.toSorted(), [
      `${String(state.version).padStart(20, "0")}.checkpoint.parquet`,
      `${String(state.version).padStart(20, "0")}.json`,
    ]);
    const cells = (rows: unknown) => (rows as string[][]).map((each) => each.slice(0, 9));
    const [rows, sequence, version] = await ask("rows", "sequence b", "version");
    assert.deepEqual([cells(rows), sequence, version], [expected(), 7, state.version]);
    await deliverAndKeep("c", 8);
    const [later, , optimized, last] = await ask("rows", "checkpoint", "optimize", "rows");
    assert.deepEqual(cells(later), expected());
    assert.deepEqual(cells(last), expected());
    assert.ok(Number(optimized) > 0);
    await deliverAndKeep("c", 9);
    assert.deepEqual(cells((await ask("rows"))[0]), expected());
    const after = await readTable(store, "content");
    assert.equal(after && activeFiles(after, "c").length, 2);
  });
});

test("a vacuum of ours keeps earlier files for as long as deltalake set for their table, and so does a delivery", async (t) => {
  const place = await temporaryFolder(t);
  const lake = openFileStore(join(place, "lake"), NEVER);
  t.after(() => lake[Symbol.asyncDispose]());
  const target = lakeIn(async () => lake, { instance: "one", logRetentionDays: 30 });
  const deliverRun = async (sequence: number) => {
    const staged = await target.stage(await makeRun(place, { sequence, machine: "a" }));
    await staged.commit();
  };
  for (const sequence of [1, 2, 3, 4]) await deliverRun(sequence);
  await askOf(join(place, "lake/tags"), "property delta.deletedFileRetentionDuration=interval 60 days");
  await deliverRun(5);
  const properties = (await readTable(lake, "tags"))?.metaData.configuration;
  assert.equal(properties?.["delta.deletedFileRetentionDuration"], "interval 60 days");
  const filesAfter = async (days: number) => {
    const clock = { ...systemClock, now: () => Date.now() + days * DAY_MS };
    await target.open(NEVER, (at) => vacuumLake({ ...at, clock }, { allVersions: false }));
    const names = ["content", "tags"].map((table) => readdir(join(place, "lake", table, "instance=one")));
    return (await Promise.all(names)).map((each) => each.length);
  };
  assert.deepEqual(await filesAfter(45), [1, 5]);
  assert.deepEqual(await filesAfter(61), [1, 1]);
  assert.equal((await askOf(join(place, "lake/tags"), "version"))[0], 5);
});
