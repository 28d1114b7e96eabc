import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { TestContext } from "node:test";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { type Clock, systemClock } from "../../src/common/clock.ts";
import { type Log, silentLog } from "../../src/common/log.ts";
import type { OnProgress } from "../../src/common/progress.ts";
import { removeTree } from "../../src/common/tree.ts";
import { type Config, loadConfig } from "../../src/config/config.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import type { Pipeline } from "../../src/pipeline.ts";
import { runExport } from "../../src/run/run.ts";
import { freeBytes } from "../../src/warehouse/disk.ts";
import { assertNoToken, CANARY } from "./canary.ts";
import { itemsOf, Scripted } from "./scripted.ts";

export { CANARY };

export const SMALL = new URL("./small-pipeline.ts", import.meta.url).href;
export const NIGHTLY = new URL("../../pipelines/nightly.ts", import.meta.url).href;
/** The tables that mapped values are made of. */
export const MAPPING = new URL("./mapping-pipeline.ts", import.meta.url).href;
/** The same with people and the history. */
export const HISTORY = new URL("./history-pipeline.ts", import.meta.url).href;

/** A folder for a test, in which no token may stand when it ends. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "run-")));
  t.after(async () => {
    try {
      await assertNoToken(folder, await filesIn(folder));
    } finally {
      await removeTree(folder);
    }
  });
  return folder;
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/** Nobody waits: sleeping lets that much time pass at once. */
export class HurriedClock implements Clock {
  slept: number[] = [];
  /** What happens in the world while somebody sleeps. */
  onSleep: () => Promise<void> = async () => {};
  readonly #startedMs: number;
  #passedMs = 0;

  constructor(startedMs = Date.UTC(2026, 10, 20, 2)) {
    this.#startedMs = startedMs;
  }

  now(): number {
    return this.#startedMs + this.#passedMs;
  }

  elapsedMs(): number {
    return this.#passedMs;
  }

  async sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.slept.push(milliseconds);
    this.#passedMs += milliseconds;
    await this.onSleep();
  }
}

export interface ExportOptions {
  readonly url: string;
  /** The warehouse's folder. */
  readonly out: string;
  readonly config?: Partial<Config>;
  /** URL of its module, or the pipeline itself. */
  readonly pipelineUrl?: string | Pipeline;
  readonly clock?: Clock;
  readonly log?: Log;
  readonly signal?: AbortSignal;
  readonly onProgress?: OnProgress;
  /** None unless told otherwise: each takes as long to start as a small run. */
  readonly threads?: number;
  readonly freeBytes?: typeof freeBytes;
}

/** A run in this process, of few tables and small pages unless told otherwise. */
export async function exportFrom(options: ExportOptions): Promise<RunSummary> {
  const { url, out } = options;
  const env = { CONTENT_API_URL: url, CONTENT_API_TOKEN: CANARY };
  const config = await loadConfig({ cwd: tmpdir(), env, flags: { warehouse: out }, sampleBy: "--sample" });
  const { summary, failure } = await runExport({
    config: { ...config, perPage: 5, details: "none", ...options.config },
    pipeline: options.pipelineUrl ?? SMALL,
    clock: options.clock ?? systemClock,
    log: options.log ?? silentLog,
    signal: options.signal ?? new AbortController().signal,
    onProgress: options.onProgress ?? (() => {}),
    threads: options.threads ?? 0,
    nodeVersion: process.versions.node,
    freeBytes: options.freeBytes ?? freeBytes,
  });
  if (failure !== null) throw failure;
  return summary;
}

/** A service of these items, a folder, and runs from the one into the other. */
export async function scriptedWorld(t: TestContext, items: readonly unknown[] = itemsOf(12)) {
  const service = await Scripted.start(t, items);
  const out = await temporaryFolder(t);
  const exported = (options: Partial<ExportOptions> = {}) =>
    exportFrom({ url: service.url, out, ...options });
  return { service, out, exported };
}

/** Everything below a folder, relative to it; folders end with a slash. */
export async function treeOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)) + (entry.isDirectory() ? "/" : ""))
    .sort();
}

/** What a reader of the warehouse sees: all but what begins with a point, and an empty folder of the runs. */
export async function visibleIn(folder: string): Promise<string[]> {
  return (await treeOf(folder)).filter((path) => !path.startsWith(".") && path !== "runs/");
}

export type Row = readonly unknown[];

export interface Reader extends AsyncDisposable {
  readonly connection: DuckDBConnection;
  rows(sql: string): Promise<Row[]>;
}

/** The published database, as an analyst opens it. */
export async function openPublished(directory: string): Promise<Reader> {
  const file = join(directory, "warehouse.duckdb");
  const instance = await DuckDBInstance.create(file, { access_mode: "READ_ONLY", threads: "1" });
  const connection = await instance.connect();
  return {
    connection,
    rows: async (sql) => (await connection.runAndReadAll(sql)).getRowsJson(),
    [Symbol.asyncDispose]: async () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

export async function rowsOf(directory: string, sql: string): Promise<Row[]> {
  await using reader = await openPublished(directory);
  return await reader.rows(sql);
}

/** IDs of the published items, in order. */
export async function publishedIds(directory: string): Promise<unknown[]> {
  return (await rowsOf(directory, "SELECT content_id FROM content ORDER BY content_id")).map(([id]) => id);
}

/** Fails where one of the texts stands in a file of the folder: in its bytes, or in what a compressed file holds. */
export async function assertNowhereIn(folder: string, texts: readonly string[]): Promise<void> {
  for (const { path, text } of await textsIn(folder)) {
    for (const each of texts) assert.ok(!text.includes(each), `${each} stands in ${path}`);
  }
}

/** What stands in the files of a folder, as text. */
export async function textsIn(folder: string): Promise<{ path: string; text: string }[]> {
  // What `current` names is read where it lies.
  const files = (await treeOf(folder)).filter((path) => !path.endsWith("/") && path !== "current");
  const texts: { path: string; text: string }[] = [];
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  for (const path of files) {
    const file = join(folder, path);
    texts.push({ path, text: (await readFile(file)).toString("latin1") });
    if (path.endsWith(".parquet")) texts.push({ path, text: await contentOf(connection, `'${file}'`) });
    if (path.endsWith(".duckdb") && !path.startsWith(".")) {
      await connection.run(`ATTACH '${file}' AS published (READ_ONLY)`);
      const tables = await connection.runAndReadAll(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'published'",
      );
      for (const [schema, table] of tables.getRows()) {
        const text = await contentOf(connection, `published."${schema}"."${table}"`);
        texts.push({ path: `${path}/${table}`, text });
      }
      await connection.run("DETACH published");
    }
  }
  connection.closeSync();
  instance.closeSync();
  return texts;
}

async function contentOf(connection: DuckDBConnection, source: string): Promise<string> {
  return JSON.stringify((await connection.runAndReadAll(`FROM ${source}`)).getRowsJson());
}
