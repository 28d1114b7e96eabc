/** Loaders of a user's own: what they get, when, and what becomes of a run in which one fails. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, truncate } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Table as ArrowTable, type RecordBatch, tableFromIPC, tableToIPC } from "apache-arrow";
import { WarehouseError } from "../../src/common/errors.ts";
import { definePipeline } from "../../src/define-pipeline.ts";
import { listing } from "../../src/extract/stages.ts";
import { TableReadError } from "../../src/load/loader-tables.ts";
import { duckdb } from "../../src/load/stages.ts";
import type { RunOutcome } from "../../src/observe/outcome.ts";
import type { Loader, LoadRun, LoadTable, Pipeline } from "../../src/pipeline.ts";
import { StagedLoads } from "../../src/run/stage-loads.ts";
import { quoteIdentifier } from "../../src/storage/sql-text.ts";
import type { Cell } from "../../src/storage/table-builder.ts";
import { RUN_TABLES } from "../../src/tables/all.ts";
import { type Column, integer } from "../../src/tables/declare.ts";
import { contentTables, customTable } from "../../src/transform/stages.ts";
import { outputFolder, stagingFolder } from "../../src/warehouse/layout.ts";
import { ODD_ROWS, oddValues } from "../engines/odd-values.ts";
import { failsWith } from "../failing.ts";
import { either } from "../long.ts";
import { NOBODY } from "../observe/observing.ts";
import { type ExportOptions, exportFrom, rowsOf, temporaryFolder, treeOf, visibleIn } from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";

/** Odd values of every type, many rows, an empty table, and two loaders around the database. */
function pipelineOf(first: Loader, second: Loader): Pipeline {
  return definePipeline({
    name: "loading",
    description: "Items, and values of every type.",
    extract: [listing("dynamic")],
    transform: [
      contentTables({ only: ["content", "content_tags", "content_files"] }),
      oddValues,
      customTable({
        name: "many",
        comment: "More rows than a batch has.",
        key: ["place"],
        columns: [integer("place", { comment: "Place in the item.", required: true })],
        *rows() {
          for (let place = 0; place < 500; place++) yield { place };
        },
      }),
    ],
    load: [first, duckdb(), second],
  });
}

type Parts = Partial<{
  stage: (loader: string, run: LoadRun) => unknown;
  commit: (loader: string) => void;
  abort: (loader: string) => void;
}>;

/** Loaders of a class, as users write them, that do what the test says. `said`: what they did, in order. */
function loadersOf(parts: Parts, isPublished = () => false) {
  const said: string[] = [];
  class Told implements Loader {
    readonly name: string;

    constructor(name: string) {
      this.name = name;
    }

    async stage(run: LoadRun) {
      said.push(`stage ${this.name}`);
      const other = await parts.stage?.(this.name, run);
      if (other !== undefined) return other as never;
      return {
        commit: async () => {
          said.push(`commit ${this.name}${isPublished() ? " after publication" : ""}`);
          parts.commit?.(this.name);
        },
        abort: async () => {
          said.push(`abort ${this.name}`);
          parts.abort?.(this.name);
        },
      };
    }
  }
  return { said, loaders: [new Told("first"), new Told("second")] as const };
}

/** Runs with these loaders. */
async function world(t: TestContext, parts: Parts, items = 3) {
  const service = await Scripted.start(t, itemsOf(items));
  const out = join(await temporaryFolder(t), "warehouse");
  const { said, loaders } = loadersOf(parts, () => existsSync(join(out, "current")));
  const run = (options: Partial<ExportOptions> = {}) =>
    exportFrom({ url: service.url, out, pipelineUrl: pipelineOf(...loaders), ...options });
  return { out, said, run };
}

/** Stages no tables, without a run. */
function staged(parts: Parts) {
  const { said, loaders } = loadersOf(parts);
  const loads = new StagedLoads(loaders);
  const pipeline = pipelineOf(...loaders);
  const staging = stagingFolder(outputFolder("/nowhere"), "000001-20261120T020000Z");
  const stage = (signal = new AbortController().signal) =>
    loads.stage({ pipeline, staging, signal }, [], "complete");
  return { said, loads, stage };
}

async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const list: Value[] = [];
  for await (const value of values) list.push(value);
  return list;
}

/** What DuckDB says of a column, as the text that a cell of it has. */
function asText({ name, type }: Column): string {
  const column = quoteIdentifier(name);
  if (type === "timestamp") return `epoch_us(${column})::VARCHAR`;
  if (type === "date") return `datediff('day', DATE '1970-01-01', ${column})::VARCHAR`;
  return type === "double" ? column : `${column}::VARCHAR`;
}

function valueIn(batch: RecordBatch, column: number, row: number): unknown {
  const vector = batch.getChildAt(column);
  if (vector === null || !vector.isValid(row)) return null;
  const { values, valueOffsets } = vector.data[0] ?? {};
  // Arrow's own reading drops a mark of the encoding at the beginning of a text.
  if (values instanceof Uint8Array && valueOffsets !== undefined)
    return Buffer.from(values.subarray(valueOffsets[row], valueOffsets[row + 1])).toString();
  const isNumbers =
    values instanceof BigInt64Array || values instanceof Int32Array || values instanceof Float64Array;
  return isNumbers ? values[row] : vector.get(row);
}

interface Loaded extends LoadTable {
  readonly rowsOfCells: readonly (readonly Cell[])[];
  readonly allBatches: readonly RecordBatch[];
}

test("loaders stage one after another every table with its rows, as cells and as batches, and commit when the run is published", async (t) => {
  // More rows than a batch has.
  const items = either(9, 20);
  const got = new Map<string, Loaded>();
  const stage = async (loader: string, { tables, run: name, sequence, pipeline, verdict }: LoadRun) => {
    if (loader === "second") {
      // What looks at the first rows alone leaves nothing behind.
      const table = tables.find((each) => each.table.name === "many");
      for await (const row of table?.cells() ?? []) {
        assert.equal(row.length, 2);
        break;
      }
      return;
    }
    assert.deepEqual([name.slice(0, 6), sequence, pipeline, verdict], ["000001", 1, "loading", "complete"]);
    for (const table of tables) {
      for (const file of table.files) assert.ok(existsSync(file), file);
      const read = { rowsOfCells: await all(table.cells()), allBatches: await all(table.batches()) };
      got.set(table.table.name, { ...table, ...read });
    }
  };
  const { run, said } = await world(t, { stage }, items);
  const { directory, rows } = await run();
  assert.deepEqual(said, [
    "stage first",
    "stage second",
    "commit first after publication",
    "commit second after publication",
  ]);
  assert.deepEqual([...got.keys()].sort(), Object.keys(rows).sort());
  for (const { name } of RUN_TABLES) assert.ok(got.has(name), name);
  const counts = ["many", "odd_values", "content_files"].map((name) => got.get(name)?.rows);
  assert.deepEqual(counts, [items * 500, ODD_ROWS, 0]);
  for (const [name, { rows, files, table, rowsOfCells, allBatches }] of got) {
    assert.notEqual(files.length, 0, name);
    const { columns, key } = table;
    const expressions = columns.map((column) => `${asText(column)} AS ${quoteIdentifier(column.name)}`);
    const order = key.map(quoteIdentifier).join(", ");
    const sql = `SELECT ${expressions.join(", ")} FROM (FROM "${name}" ORDER BY ${order})`;
    const expected = await rowsOf(directory, sql);
    assert.equal(rows, expected.length, name);
    const shown = (cell: unknown, at: number) =>
      cell === null || columns[at]?.type === "double" ? cell : String(cell);
    assert.deepEqual(
      rowsOfCells.map((row) => row.map(shown)),
      expected,
      name,
    );
    const inBatches = allBatches.flatMap((batch) =>
      Array.from({ length: batch.numRows }, (_, row) =>
        columns.map((_column, at) => shown(valueIn(batch, at, row), at)),
      ),
    );
    assert.deepEqual(inBatches, expected, `${name} in batches`);
    for (const batch of allBatches) {
      assert.ok(batch.numRows > 0 && batch.numRows <= 4096, name);
      assert.deepEqual(
        batch.schema.fields.map((field) => [field.name, field.nullable]),
        columns.map((column) => [column.name, column.nullable]),
      );
    }
    if (allBatches.length === 0) continue;
    const read = tableFromIPC(tableToIPC(new ArrowTable([...allBatches])));
    assert.equal(read.numRows, rows, `${name} as a stream`);
  }
});

const fails = (error: unknown) => () => {
  throw error;
};

test("a loader that cannot stage ends the run with 26 and its reason, a disk with its own", async () => {
  const shut =
    /^The loader second cannot stage the run: the lake is shut, at \S+loaders\.test\.ts:\d+; nothing was published\.$/;
  const says =
    /^The loader second cannot stage the run: The lake says 503, at \S+:\d+; nothing was published\.$/;
  const none = /its stage\(\) must return an object with commit and abort; nothing was published\.$/;
  const cases: readonly (readonly [stage: () => unknown, message: RegExp])[] = [
    [fails(new Error("the lake is shut")), shut],
    [fails(new WarehouseError("source.unavailable", "The lake says 503.")), says],
    [fails(new WarehouseError("disk.io", "The lake says 503.")), says],
    [() => null, none],
    [() => ({ commit: async () => {} }), none],
  ];
  for (const [failing, message] of cases) {
    const { stage } = staged({ stage: (loader) => (loader === "second" ? failing() : undefined) });
    const { message: said, exitCode } = await failsWith("load.failed", stage());
    assert.match(said, message);
    assert.equal(exitCode, 26);
  }
  const full = new TableReadError(new WarehouseError("disk.io", "The disk is full."), undefined);
  await assert.rejects(staged({ stage: fails(full) }).stage(), full);
});

test("nothing is published, and what was staged is taken back, where another loader fails", async (t) => {
  const abort = fails(new Error("and cannot be cleaned, which hides nothing"));
  const parts: Parts = { stage: (loader) => (loader === "second" ? null : undefined), abort };
  const { run, said, out } = await world(t, parts);
  await failsWith("load.failed", run());
  assert.deepEqual(said.splice(0), ["stage first", "stage second", "abort first"]);
  assert.deepEqual(await visibleIn(out), []);
  assert.ok(
    (await treeOf(out)).some((path) => path.endsWith("resume.json")),
    "the next run goes on",
  );
  parts.stage = async () => {
    const [database] = (await treeOf(out)).filter((path) => path.endsWith("warehouse.duckdb"));
    await truncate(join(out, database ?? ""), 100_000);
  };
  assert.match((await failsWith("verify.failed", run())).message, /warehouse\.duckdb/);
  assert.deepEqual(said.splice(2), ["abort first", "abort second"]);
  assert.deepEqual(await visibleIn(out), []);
});

test("a signal ends the run while a loader stages and does not heed it", async () => {
  const controller = new AbortController();
  const late = Promise.withResolvers<undefined>();
  const reason = new WarehouseError("run.terminated", "Terminated; nothing was published, as was asked for.");
  const { said, loads, stage } = staged({
    stage: (loader) => {
      if (loader === "first") return undefined;
      controller.abort(reason);
      return late.promise;
    },
  });
  await assert.rejects(stage(controller.signal), reason);
  await loads[Symbol.asyncDispose]();
  assert.deepEqual(said, ["stage first", "stage second", "abort first"]);
  late.resolve(undefined);
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(said.at(-1), "abort second", "what is staged too late is taken back");
});

const CANNOT =
  /^The loader first cannot make the run visible: .*[nN]o space(, at .*loaders\.test\.ts:\d+)?; the run stays published in the warehouse folder: run "content-warehouse run" again\.$/;

test("a commit that fails leaves the run published and takes back the loaders after it; old runs still go", async (t) => {
  const commit = (loader: string) => {
    if (loader === "first") throw new WarehouseError("source.unavailable", "No space.");
  };
  const { run, said, out } = await world(t, { commit });
  const outcomes: RunOutcome[] = [];
  const observe = { ...NOBODY, onFinish: (outcome: RunOutcome) => outcomes.push(outcome) };
  for (const _night of [1, 2]) {
    const error = await failsWith("load.failed", run({ config: { observe, keepRuns: 1 } }));
    assert.match(error.message, CANNOT);
    const told = outcomes.pop();
    assert.ok(told?.ok);
    assert.deepEqual([told.exitCode, told.warnings.at(-1)], [26, error.message]);
    assert.deepEqual(said.splice(0), [
      "stage first",
      "stage second",
      "commit first after publication",
      "abort first",
      "abort second",
    ]);
    assert.deepEqual(await readdir(join(out, ".staging")), []);
  }
  assert.deepEqual(await rowsOf(join(out, "current"), "SELECT count(*) FROM content"), [["3"]]);
  assert.deepEqual(
    (await readdir(join(out, "runs"))).map((run) => run.slice(0, 6)),
    ["000002"],
  );
  for (const thrown of [new Error("no space"), "no space"]) {
    const { loads, stage } = staged({ commit: fails(thrown) });
    await stage();
    const failure = await loads.commit();
    assert.match(failure?.message ?? "", CANNOT);
    assert.equal(failure?.message.includes("loaders.test.ts:"), thrown instanceof Error);
  }
});
