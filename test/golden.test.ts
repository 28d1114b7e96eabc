import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { systemClock } from "../src/common/clock.ts";
import { silentLog } from "../src/common/log.ts";
import { type Config, loadConfig } from "../src/config/config.ts";
import { runExport } from "../src/run/run.ts";
import { createService } from "../src/service/service.ts";
import { DATA_TABLES } from "../src/tables/all.ts";
import type { Column, Table } from "../src/tables/declare.ts";
import { tablesOfRun } from "../src/tables/run.ts";
import { pipelineUrl } from "../src/transform/pipelines.ts";
import { freeBytes } from "../src/warehouse/disk.ts";

/** Exports the content sets of `golden/` and holds every row against the files there. Its README says how to check. */

const GOLDEN = fileURLToPath(new URL("./golden/", import.meta.url));
const UPDATE = process.env.UPDATE_GOLDEN === "1";
/** Without the history: its rows name runs and their starts, and its own tests hold it. */
const TABLES = DATA_TABLES.filter(({ stage }) => stage !== "history");
/** The service's clock stands still, so that the time of the answers is known. */
const NOW = Date.UTC(2026, 2, 1, 2, 0, 0);

interface Case extends Pick<Config, "destinations" | "customFields" | "details"> {
  /** For people. */
  readonly what: string;
  /** Folder of the content set, from the case's own folder on. */
  readonly set: string;
  readonly token: string;
  readonly personalData: "keep" | "drop";
}

function readCase(folder: string): Case {
  return JSON.parse(readFileSync(join(folder, "case.json"), "utf8"));
}

for (const name of readdirSync(GOLDEN)) {
  if (!existsSync(join(GOLDEN, name, "case.json"))) continue;
  const folder = join(GOLDEN, name);
  const given = readCase(folder);
  test(`the rows of ${name}: ${given.what}`, async (t) => {
    const file = await exportCase(t, folder, given);
    const instance = await DuckDBInstance.create(file, { access_mode: "READ_ONLY", threads: "1" });
    const connection = await instance.connect();
    for (const table of [...TABLES, tablesOfRun.drift, tablesOfRun.rejects]) {
      const path = join(folder, "expected", `${table.name}.jsonl`);
      const found = await rowsOf(connection, table);
      if (UPDATE) rewrite(path, found);
      const expected = existsSync(path)
        ? readFileSync(path, "utf8")
            .split("\n")
            .filter((line) => line !== "")
        : [];
      assert.deepEqual(found, expected, `${table.name}, ${path}`);
    }
    connection.closeSync();
    instance.closeSync();
  });
}

async function exportCase(t: TestContext, folder: string, given: Case): Promise<string> {
  const out = await mkdtemp(join(tmpdir(), "golden-"));
  t.after(() => rm(out, { recursive: true, force: true }));
  const service = await createService({ data: resolve(folder, given.set), now: () => NOW });
  t.after(() => service.close());
  const { token, personalData, destinations, customFields, details } = given;
  const config = await loadConfig({
    cwd: out,
    env: { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: token },
    flags: { warehouse: join(out, "warehouse") },
    sampleBy: "--sample",
  });
  const { summary } = await runExport({
    config: {
      ...config,
      destinations,
      customFields,
      details,
      personalData: { policy: personalData, key: null },
    },
    pipeline: pipelineUrl("nightly", out),
    clock: systemClock,
    log: silentLog,
    signal: new AbortController().signal,
    onProgress: () => {},
    threads: 1,
    nodeVersion: process.versions.node,
    freeBytes,
  });
  assert.equal(summary.verdict, "complete", summary.reasons.join("; "));
  return join(summary.directory, "warehouse.duckdb");
}

/** A table's rows as JSON, in the order of its key; a column that is NULL is left out. */
async function rowsOf(connection: DuckDBConnection, table: Table): Promise<string[]> {
  const columns = table.columns.map(readable).join(", ");
  const key = table.key.join(", ");
  const found = await connection.runAndReadAll(`SELECT ${columns} FROM ${table.name} ORDER BY ${key}`);
  return found.getRows().map((row) => {
    const members = table.columns.flatMap(({ name, type }, at) => {
      const cell = row[at];
      if (cell === null || cell === undefined) return [];
      const isText = type === "text" || type === "timestamp" || type === "date";
      return [`${JSON.stringify(name)}: ${isText ? JSON.stringify(cell) : String(cell)}`];
    });
    return `{${members.join(", ")}}`;
  });
}

/** Instants and dates as the wire writes them, instants to the microsecond. */
function readable({ name, type }: Column): string {
  if (type === "timestamp") return `strftime(${name} AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ')`;
  return type === "date" ? `strftime(${name}, '%Y-%m-%d')` : `CAST(${name} AS VARCHAR)`;
}

function rewrite(path: string, rows: readonly string[]): void {
  mkdirSync(join(path, ".."), { recursive: true });
  if (rows.length === 0) rmSync(path, { force: true });
  else writeFileSync(path, `${rows.join("\n")}\n`);
}
