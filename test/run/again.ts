/** A published run built again from its raw documents, by the code that a nightly run goes through. */
import assert from "node:assert/strict";
import { cp, readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { systemClock } from "../../src/common/clock.ts";
import { silentLog } from "../../src/common/log.ts";
import { readRaw } from "../../src/raw/read-raw.ts";
import { build } from "../../src/run/build.ts";
import type { Building } from "../../src/run/building.ts";
import { heldAgainst } from "../../src/run/previous-history.ts";
import { StagedLoads } from "../../src/run/stage-loads.ts";
import { isAboutTheRun } from "../../src/tables/all.ts";
import { loadPipeline } from "../../src/transform/pipelines.ts";
import { SHRINK_LIMITS } from "../../src/warehouse/baseline.ts";
import { createStaging, outputFolder } from "../../src/warehouse/layout.ts";
import { readManifestFile } from "../../src/warehouse/manifest.ts";
import { publishRun } from "../../src/warehouse/publish.ts";
import { rowsOf, temporaryFolder } from "./running.ts";

interface Again {
  /** Folder of the published run. */
  readonly directory: string;
  /** Folder of the run before it; undefined: it is pruned, or there is none. */
  readonly before?: string;
  readonly pipelineUrl: string;
  readonly gates?: Partial<Building["gates"]>;
}

/** Builds and publishes the run in a warehouse of its own. Answers its folder there. */
export async function builtAgain(
  t: TestContext,
  { directory, before, pipelineUrl, gates }: Again,
): Promise<string> {
  const { manifest } = await readManifestFile(directory);
  const folder = outputFolder(await temporaryFolder(t));
  const staging = await createStaging(folder, manifest.run);
  const raw = join(staging.result, "raw");
  await cp(join(directory, "raw"), raw, { recursive: true });
  const landed = await readRaw(raw);
  const kept =
    before === undefined
      ? undefined
      : ({ kind: "run", directory: before, ...(await keptAs(before)) } as const);
  const own = { run: manifest.run, directory, manifest };
  const against = await heldAgainst(landed.facts, { own, kept, temporaryDirectory: folder.staging });
  const pipeline = await loadPipeline(pipelineUrl);
  const [[endedMs] = []] = await rowsOf(directory, "SELECT epoch_ms(ended_at) FROM run");
  const clock = { ...systemClock, now: () => Number(endedMs) };
  await using loads = new StagedLoads([]);
  const built = await build({
    folder: outputFolder(dirname(dirname(directory))),
    staging,
    landed,
    pipeline,
    pipelineUrl,
    ...against,
    gates: { contract: "evolve", maxRejects: null, ...SHRINK_LIMITS, ...gates },
    loads,
    threads: 1,
    nodeVersion: process.versions.node,
    signal: new AbortController().signal,
    onProgress: () => {},
    onEvent: () => {},
    clock,
    log: silentLog,
    measure: async () => {},
  });
  const { peakBytes } = manifest;
  await publishRun(folder, staging, { ...built.statement, peakBytes }, clock);
  return join(folder.runs, manifest.run);
}

async function keptAs(directory: string) {
  const { manifest, sha256 } = await readManifestFile(directory);
  return { run: manifest.run, manifest, sha256 };
}

/**
 * Fails where two runs differ in the rows of a table, the bytes of a data file, or the manifest but for when it ended. Answers the number of tables, and of data files, that were compared.
 */
export async function assertSameRun(
  published: string,
  again: string,
): Promise<[tables: number, files: number]> {
  const [one, other] = await Promise.all([published, again].map(async (each) => readManifestFile(each)));
  const { files, endedAt: _ended, ...stated } = one?.manifest ?? assert.fail();
  const { files: filesAgain, endedAt: _endedAgain, ...statedAgain } = other?.manifest ?? assert.fail();
  assert.deepEqual(statedAgain, stated);
  assert.deepEqual(
    filesAgain.map(({ path, rows }) => [path, rows]),
    files.map(({ path, rows }) => [path, rows]),
  );
  const tables = Object.keys(stated.rows);
  assert.deepEqual(await differing(published, again, tables), []);
  const data = await dataFilesIn(published);
  const dataAgain = await dataFilesIn(again);
  assert.deepEqual([...dataAgain.keys()], [...data.keys()]);
  const others = [...data].filter(([name, bytes]) => dataAgain.get(name)?.equals(bytes) !== true);
  assert.deepEqual(
    others.map(([name]) => name),
    [],
  );
  return [tables.length, data.size];
}

export async function assertSameReport(published: string, again: string): Promise<void> {
  const [page = [], pageAgain = []] = await Promise.all(
    [published, again].map(async (each) => (await readFile(join(each, "report.html"), "utf8")).split("\n")),
  );
  // All of it would be a message of megabytes.
  const other = page.findIndex((line, place) => line !== pageAgain[place]);
  assert.equal(pageAgain[other]?.slice(0, 2000), page[other]?.slice(0, 2000));
  assert.equal(pageAgain.length, page.length);
}

/** Tables whose rows are not the same, as often, in both. */
async function differing(published: string, again: string, tables: readonly string[]): Promise<string[]> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  try {
    await connection.run(`ATTACH '${join(published, "warehouse.duckdb")}' AS one (READ_ONLY)`);
    await connection.run(`ATTACH '${join(again, "warehouse.duckdb")}' AS other (READ_ONLY)`);
    const different: string[] = [];
    for (const table of tables) {
      const [a, b] = ["one", "other"].map((name) => `(FROM ${name}.main.${table})`);
      const sql = `SELECT count(*) FROM ((${a} EXCEPT ALL ${b}) UNION ALL (${b} EXCEPT ALL ${a}))`;
      const [[count] = []] = (await connection.runAndReadAll(sql)).getRowsJson();
      if (String(count) !== "0") different.push(table);
    }
    return different;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** By path: the Parquet files of all tables but those about the run itself. */
async function dataFilesIn(directory: string): Promise<ReadonlyMap<string, Buffer>> {
  const parquet = join(directory, "parquet");
  const names = (await readdir(parquet, { recursive: true })).filter((name) => name.endsWith(".parquet"));
  const data = names.toSorted().filter((name) => !isAboutTheRun(name.split("/", 1)[0] ?? ""));
  return new Map(
    await Promise.all(data.map(async (name) => [name, await readFile(join(parquet, name))] as const)),
  );
}
