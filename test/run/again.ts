/** A published run built again from its raw documents, by the code that a nightly run goes through. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { findReadable } from "../../src/audit/open-run.ts";
import { silentLog } from "../../src/common/log.ts";
import { rebuild } from "../../src/run/replay/rebuild.ts";
import { isAboutTheRun, TABLES } from "../../src/tables/all.ts";
import { differingTables } from "../../src/warehouse/differing-tables.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { readManifestFile } from "../../src/warehouse/manifest.ts";
import { publishRun } from "../../src/warehouse/publish.ts";
import { sourceOf } from "../../src/warehouse/published-tables.ts";
import { temporaryFolder } from "./running.ts";

interface Again {
  /** Folder of the published run. */
  readonly directory: string;
  /** Whether it is built as if the runs before it were pruned. */
  readonly isAlone?: boolean;
}

/** Builds and publishes the run in a warehouse of its own. Answers its folder there. */
export async function builtAgain(t: TestContext, { directory, isAlone = false }: Again): Promise<string> {
  const place = await temporaryFolder(t);
  const folder = outputFolder(isAlone ? place : dirname(dirname(directory)));
  const published = await findReadable(outputFolder(dirname(dirname(directory))), basename(directory));
  const { staging, built, clock } = await rebuild({
    folder,
    published,
    place,
    threads: 1,
    signal: new AbortController().signal,
    onProgress: () => {},
    log: silentLog,
  });
  const { peakBytes } = published.manifest;
  const again = outputFolder(place);
  await publishRun(again, staging, { ...built.statement, peakBytes }, clock);
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
    source: sourceOf({ directory, manifest: one?.manifest ?? assert.fail() }, { isQuestioned: true }),
  }));
  assert.ok(a !== undefined && b !== undefined);
  const compared = { published: a, rebuilt: b, declared: TABLES, temporaryDirectory: tmpdir() };
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
  const data = names.toSorted().filter((name) => !isAboutTheRun(name.split("/", 1)[0] ?? ""));
  return new Map(
    await Promise.all(data.map(async (name) => [name, await readFile(join(parquet, name))] as const)),
  );
}
