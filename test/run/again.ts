/** A published run built again from its raw documents, by the code that a nightly run goes through. */
import assert from "node:assert/strict";
import { cp, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { findReadableRun } from "../../src/audit/open-run.ts";
import { systemClock } from "../../src/common/clock.ts";
import { silentLog } from "../../src/common/log.ts";
import { readRawFolder } from "../../src/raw/raw-folder.ts";
import { build } from "../../src/run/build.ts";
import { previousHistory, withoutPersonal } from "../../src/run/previous-history.ts";
import { StagedLoads } from "../../src/run/stage-loads.ts";
import { isRunTable } from "../../src/tables/all.ts";
import { loadPipeline, pipelineUrl } from "../../src/transform/pipelines.ts";
import { type Baseline, baselineOf } from "../../src/warehouse/baseline.ts";
import { freeBytes, PeakUse } from "../../src/warehouse/disk.ts";
import { previousOf } from "../../src/warehouse/identity.ts";
import { createStaging, outputFolder } from "../../src/warehouse/layout.ts";
import { readManifestFile } from "../../src/warehouse/manifest.ts";
import { publishRun } from "../../src/warehouse/publish.ts";
import { tablesSourceOf } from "../../src/warehouse/published-tables.ts";
import { listRuns } from "../../src/warehouse/retention.ts";
import { differingTables } from "../differing-tables.ts";
import { rowsOf, temporaryFolder } from "./running.ts";

/**
 * Builds the run again from its raw documents, its facts and the run before, by the code that a nightly run goes through,
 * and publishes it in a warehouse of its own. Answers its folder there.
 */
export async function builtAgain(
  t: TestContext,
  { directory }: { readonly directory: string },
): Promise<string> {
  const folder = outputFolder(dirname(dirname(directory)));
  const published = await findReadableRun(folder, basename(directory));
  const { manifest } = published;
  const again = outputFolder(await temporaryFolder(t));
  const staging = await createStaging(again, manifest.run);
  await cp(join(directory, "raw"), join(staging.result, "raw"), { recursive: true });
  const landed = await readRawFolder(join(staging.result, "raw"));
  const { module, name } = landed.facts.pipeline;
  const url = module?.startsWith("file:") ? module : pipelineUrl(module ?? assert.fail(name), "");
  const pipeline = await loadPipeline(url);
  const runs = await listRuns(folder);
  const before = previousOf(manifest, runs);
  const baseline: Baseline = before ? await baselineOf(folder, before.run) : { kind: "none" };
  const [[endedMs] = []] = await rowsOf(directory, "SELECT epoch_ms(ended_at)::DOUBLE FROM run");
  const clock = { ...systemClock, now: () => Number(endedMs) };
  const past = await previousHistory(baseline, pipeline, folder);
  await using loads = new StagedLoads([]);
  const runtime = {
    clock,
    log: silentLog,
    signal: new AbortController().signal,
    onProgress: () => {},
    threads: 1,
    nodeVersion: manifest.versions.node,
    freeBytes,
  };
  await using peak = new PeakUse(staging.root, 0);
  const history = withoutPersonal(past, landed.facts.personalData);
  const run = { pipeline, pipelineUrl: url, folder, staging, baseline, history };
  const source = { landed, replayOf: manifest.replayOf ?? null };
  const built = await build(run, source, { loads, peak, runtime });
  await publishRun(again, staging, { ...built.statement, peakBytes: manifest.peakBytes }, clock);
  return join(again.runs, staging.run);
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
  const [a, b] = [published, again].map((directory) => ({
    tables,
    source: tablesSourceOf({ directory, manifest: one?.manifest ?? assert.fail() }, { isQuestioned: true }),
  }));
  assert.ok(a !== undefined && b !== undefined);
  const compared = { published: a, rebuilt: b, temporaryDirectory: tmpdir() };
  assert.deepEqual(await differingTables(compared), []);
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

/** By path: the Parquet files of all tables but those about the run itself. */
async function dataFilesIn(directory: string): Promise<ReadonlyMap<string, Buffer>> {
  const parquet = join(directory, "parquet");
  const names = (await readdir(parquet, { recursive: true })).filter((name) => name.endsWith(".parquet"));
  const data = names.toSorted().filter((name) => !isRunTable(name.split("/", 1)[0] ?? ""));
  return new Map(
    await Promise.all(data.map(async (name) => [name, await readFile(join(parquet, name))] as const)),
  );
}
