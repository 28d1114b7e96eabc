/** Loaders of a user's own: what they get, when, and what becomes of a run in which one fails. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Table as ArrowTable, type RecordBatch, tableFromIPC, tableToIPC } from "apache-arrow";
import { type ErrorCode, exitCodeFor, WarehouseError } from "../../src/common/errors.ts";
import { TableReadError } from "../../src/load/loader-tables.ts";
import type { RunOutcome } from "../../src/observe/outcome.ts";
import type { LoadRun, LoadTable, StagedLoad } from "../../src/pipeline.ts";
import { quoteIdentifier } from "../../src/storage/sql-text.ts";
import type { Cell } from "../../src/storage/table-builder.ts";
import { RUN_TABLES } from "../../src/tables/all.ts";
import type { Column } from "../../src/tables/declare.ts";
import { startRun } from "../cli/running.ts";
import { failsWith } from "../failing.ts";
import { either, long } from "../long.ts";
import { NOBODY } from "../observe/observing.ts";
import { until } from "../until.ts";
import { type Hooks, tell, valuesOf } from "./loading.ts";
import { type ExportOptions, exportFrom, rowsOf, temporaryFolder, treeOf, visibleIn } from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";

const LOADING = new URL("./loading-pipeline.ts", import.meta.url).href;

type Parts = Partial<{
  stage: (loader: string, run: LoadRun) => Promise<unknown>;
  commit: (loader: string) => Promise<void>;
  abort: (loader: string) => Promise<void>;
}>;

/** `said`: what the loaders did, in order. */
async function world(t: TestContext, parts: Parts = {}, items = 3) {
  const service = await Scripted.start(t, itemsOf(items));
  const out = join(await temporaryFolder(t), "warehouse");
  const said: string[] = [];
  const stage: Hooks["stage"] = async (loader, run) => {
    said.push(`stage ${loader}`);
    const other = await parts.stage?.(loader, run);
    if (other !== undefined) return other as StagedLoad;
    return {
      commit: async () => {
        said.push(`commit ${loader}${existsSync(join(out, "current")) ? " after publication" : ""}`);
        await parts.commit?.(loader);
      },
      abort: async () => {
        said.push(`abort ${loader}`);
        await parts.abort?.(loader);
      },
    };
  };
  tell(t, { stage });
  const run = (options: Partial<ExportOptions> = {}) =>
    exportFrom({ url: service.url, out, pipelineUrl: LOADING, ...options });
  return { out, said, run };
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
  const { values } = vector.data[0] ?? {};
  const isNumbers =
    values instanceof BigInt64Array || values instanceof Int32Array || values instanceof Float64Array;
  return isNumbers ? values[row] : vector.get(row);
}

test("a loader gets every table with its rows, as cells and as batches, to the last bit", async (t) => {
  // More rows than a batch has.
  const items = either(9, 20);
  const got = new Map<
    string,
    Pick<LoadTable, "rows" | "files"> &
      Pick<LoadTable["table"], "columns" | "key"> & {
        readonly cells: readonly (readonly Cell[])[];
        readonly batches: readonly RecordBatch[];
      }
  >();
  const { run } = await world(
    t,
    {
      stage: async (loader, { tables, run: name, sequence, pipeline, verdict }) => {
        if (loader === "second") return;
        assert.deepEqual(
          [name.slice(0, 6), sequence, pipeline, verdict],
          ["000001", 1, "loading", "complete"],
        );
        for (const { table, rows, files, cells, batches } of tables) {
          for (const file of files) assert.ok(existsSync(file), file);
          const { columns, key } = table;
          got.set(table.name, {
            rows,
            files,
            columns,
            key,
            cells: await all(cells()),
            batches: await all(batches()),
          });
        }
      },
    },
    items,
  );
  const { directory, tables } = await run();
  assert.deepEqual([...got.keys()].sort(), tables.map(({ name }) => name).sort());
  for (const { name } of RUN_TABLES) assert.ok(got.has(name), name);
  assert.deepEqual(
    [got.get("every_type")?.rows, got.get("nothing")?.rows, got.get("content_files")?.rows],
    [items * 500, 0, 0],
  );
  for (const [name, { rows, files, columns, key, cells, batches }] of got) {
    assert.notEqual(files.length, 0, name);
    const expressions = columns
      .map((column) => `${asText(column)} AS ${quoteIdentifier(column.name)}`)
      .join(", ");
    const order = key.map(quoteIdentifier).join(", ");
    const expected = await rowsOf(directory, `SELECT ${expressions} FROM (FROM "${name}" ORDER BY ${order})`);
    assert.equal(rows, expected.length, name);
    const shown = (cell: unknown, { type }: Column) =>
      cell === null || type === "double" ? cell : String(cell);
    assert.deepEqual(
      cells.map((row) => row.map((cell, at) => shown(cell, columns[at] as Column))),
      expected,
      name,
    );
    const inBatches = batches.flatMap((batch) =>
      Array.from({ length: batch.numRows }, (_, row) =>
        columns.map((column, at) => shown(valueIn(batch, at, row), column)),
      ),
    );
    assert.deepEqual(inBatches, expected, `${name} in batches`);
    for (const batch of batches) {
      assert.ok(batch.numRows > 0 && batch.numRows <= 4096, name);
      const fields = batch.schema.fields.map((field) => [field.name, field.nullable]);
      assert.deepEqual(
        fields,
        columns.map((column) => [column.name, column.nullable]),
      );
    }
    if (batches.length === 0) continue;
    const read = tableFromIPC(tableToIPC(new ArrowTable([...batches])));
    assert.equal(read.numRows, rows, `${name} as a stream`);
  }
  const every = got.get("every_type");
  assert.deepEqual(
    every?.columns.map(({ name }) => name),
    ["content_id", "place", "t", "j", "b", "i", "l", "d", "at", "day"],
  );
  // As they were made, not only as DuckDB has them.
  for (const [id, place, ...values] of every?.cells ?? []) {
    const made = Object.values(valuesOf(String(id), Number(place)));
    assert.deepEqual(
      values.map((value) => (value === null ? null : String(value))),
      made.map((value) => (value === null ? null : String(value))),
    );
    assert.deepEqual(
      values.map((value) => typeof value).filter((_, at) => values[at] !== null),
      ["string", "string", "boolean", "number", "bigint", "number", "number", "number"].filter(
        (_, at) => values[at] !== null,
      ),
    );
  }
});

long("a loader that looks at the first rows alone leaves nothing behind", async (t) => {
  const { run, said } = await world(t, {
    stage: async (_loader, { tables }) => {
      const table = tables.find(({ table: { name } }) => name === "every_type");
      for await (const row of table?.cells() ?? []) {
        assert.equal(row.length, 10);
        break;
      }
      for await (const batch of table?.batches() ?? []) {
        assert.equal(batch.numRows, 1500);
        break;
      }
    },
  });
  const { directory } = await run();
  assert.equal(said.length, 4);
  assert.deepEqual(await rowsOf(directory, "SELECT count(*) FROM every_type"), [["1500"]]);
});

test("loaders stage one after another, and commit when the run is published", async (t) => {
  const { run, said } = await world(t);
  await run();
  assert.deepEqual(said, [
    "stage first",
    "stage second",
    "commit first after publication",
    "commit second after publication",
  ]);
});

const thrown = (error: unknown) => () => {
  throw error;
};

async function damage(out: string): Promise<void> {
  const [database] = (await treeOf(out)).filter((path) => path.endsWith("warehouse.duckdb"));
  await truncate(join(out, database ?? ""), 100_000);
}

const SHUT =
  /^The loader second cannot stage the run: the lake is shut, at \S+loaders\.test\.ts:\d+; nothing was published\.$/;
const SAYS_503 =
  /^The loader second cannot stage the run: The lake says 503, at \S+:\d+; nothing was published\.$/;
const NO_OBJECT = /its stage\(\) must return an object with commit and abort; nothing was published\.$/;

/** What the second loader does, and how the run ends; in the last case what was staged is left to be looked into. */
const FAILING: readonly (readonly [stage: (out: string) => unknown, message: RegExp, code?: ErrorCode])[] = [
  [thrown(new Error("the lake is shut")), SHUT],
  [thrown(new WarehouseError("source.unavailable", "The lake says 503.")), SAYS_503],
  [thrown(new WarehouseError("disk.io", "The lake says 503.")), SAYS_503],
  [() => null, NO_OBJECT],
  [() => ({ commit: async () => {} }), NO_OBJECT],
  [
    thrown(new TableReadError(new WarehouseError("disk.io", "The disk is full."), undefined)),
    /full/,
    "disk.io",
  ],
  [damage, /warehouse\.duckdb/, "verify.failed"],
];

test("nothing is published, and what was staged is taken back, where another loader fails", async (t) => {
  let failing: (typeof FAILING)[number] | undefined;
  const { run, said, out } = await world(t, {
    stage: async (loader) => (loader === "second" ? failing?.[0](out) : undefined),
    // That hides nothing.
    abort: async () => {
      throw new Error("and cannot be cleaned");
    },
  });
  for (failing of FAILING) {
    const [, message, code = "load.failed"] = failing;
    await assert.rejects(run(), { code, exitCode: exitCodeFor(code), message });
    const aborted = code === "verify.failed" ? ["abort first", "abort second"] : ["abort first"];
    assert.deepEqual(said.splice(0), ["stage first", "stage second", ...aborted]);
    assert.deepEqual(await visibleIn(out), []);
    if (code !== "load.failed") continue;
    const [staged] = (await treeOf(out)).filter((path) => path.endsWith("resume.json"));
    assert.ok(staged !== undefined, "the next run goes on from what was read");
  }
  tell(t, { stage: async () => ({ commit: async () => {}, abort: async () => {} }) });
  assert.equal((await run()).sequence, 1);
});

long("a signal ends the run while a loader stages and does not heed it", { timeout: 30_000 }, async (t) => {
  const controller = new AbortController();
  const late = Promise.withResolvers<void>();
  const { run, said, out } = await world(t, {
    stage: async (loader, { signal }) => {
      if (loader === "first") return undefined;
      controller.abort(
        new WarehouseError("run.terminated", "Terminated; nothing was published, as was asked for."),
      );
      assert.equal(signal.aborted, true);
      await late.promise;
      return undefined;
    },
  });
  await failsWith("run.terminated", run({ signal: controller.signal }));
  assert.deepEqual(said, ["stage first", "stage second", "abort first"]);
  assert.deepEqual(await visibleIn(out), []);
  late.resolve();
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(said.at(-1), "abort second", "what is staged too late is taken back");
});

long("a signal ends the run after all have staged", async (t) => {
  const controller = new AbortController();
  const { run, said } = await world(t, {
    stage: async (loader) => {
      if (loader === "second")
        setImmediate(() =>
          controller.abort(new WarehouseError("run.interrupted", "Interrupted; nothing was published.")),
        );
    },
  });
  await failsWith("run.interrupted", run({ signal: controller.signal }));
  assert.deepEqual(said.slice(0, 2), ["stage first", "stage second"]);
  assert.deepEqual(said.slice(2).sort(), ["abort first", "abort second"]);
});

test("a commit that fails leaves the run published and takes back the loaders after it; old runs still go", async (t) => {
  let thrown: unknown;
  const { run, said, out } = await world(t, {
    commit: async (loader) => {
      if (loader === "first") throw thrown;
    },
  });
  const outcomes: RunOutcome[] = [];
  const observe = { ...NOBODY, onFinish: (outcome: RunOutcome) => outcomes.push(outcome) };
  for (thrown of [new Error("no space"), new WarehouseError("source.unavailable", "No space."), "no space"]) {
    const error = await failsWith("load.failed", run({ config: { observe, keepRuns: 2 } }));
    assert.equal(error.exitCode, 26);
    const told = outcomes.pop();
    assert.ok(told?.ok);
    assert.deepEqual([told.exitCode, told.warnings.at(-1)], [26, error.message]);
    assert.match(
      error.message,
      /^The loader first cannot make the run visible: .*[nN]o space(, at .*loaders\.test\.ts:\d+)?; the run stays published in the warehouse folder: run "content-warehouse run" again\.$/,
    );
    assert.equal(error.message.includes("loaders.test.ts:"), thrown instanceof Error);
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
  const runs = (await readdir(join(out, "runs"))).map((run) => Number(run.slice(0, 6)));
  assert.deepEqual(runs.sort(), [2, 3]);
  tell(t, { stage: async () => ({ commit: async () => {}, abort: async () => {} }) });
  const { sequence, resumed } = await run();
  assert.deepEqual([sequence, resumed], [4, null], "and the next run is as any other");
});

long(
  "SIGTERM ends the command though a loader hangs, and keeps its connection open",
  {
    timeout: 60_000,
  },
  async (t) => {
    const service = await Scripted.start(t, itemsOf(3));
    const folder = await temporaryFolder(t);
    const module = join(folder, "hanging.mjs");
    await writeFile(
      module,
      `import { contentTables, definePipeline, listing, parquet } from "content-warehouse";
    const stage = () => {
      setInterval(() => process.kill(process.pid, 0), 10);
      process.stderr.write("it hangs\\n");
      return new Promise(() => {});
    };
    export default definePipeline({
      name: "hanging",
      extract: [listing("full")],
      transform: [contentTables({ only: ["content"] })],
      load: [parquet(), { name: "lake", stage }],
    });`,
    );
    const out = join(folder, "warehouse");
    const { child, said, ended } = startRun(service, out, { pipeline: module });
    t.after(() => child.kill("SIGKILL"));
    await until("it hangs", () => said.stderr.includes("it hangs"), { ended });
    child.kill("SIGTERM");
    const { code, signal, stderr } = await ended;
    assert.deepEqual([code, signal], [143, null]);
    assert.match(stderr, /Terminated/);
    assert.deepEqual(await visibleIn(out).catch(() => []), []);
  },
);
