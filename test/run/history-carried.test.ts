/** Which runs the history is carried on from, and which not. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmod, copyFile, cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { diffCommand } from "../../src/cli/commands/diff.ts";
import { explainCommand } from "../../src/cli/commands/explain.ts";
import { HISTORY_TABLES } from "../../src/tables/history.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { outcome } from "../cli/capture.ts";
import { failsWith } from "../failing.ts";
import { generateContentSet } from "../generator/generate.ts";
import { long } from "../long.ts";
import { servedNight } from "./nights.ts";
import { exportFrom, HISTORY, HurriedClock, openPublished, temporaryFolder } from "./running.ts";

const DUCKDB_ALONE = new URL("./duckdb-nightly-pipeline.ts", import.meta.url).href;

/** A content set of few items, and a place for a warehouse. */
async function few(t: TestContext): Promise<{ out: string; data: string }> {
  const folder = await temporaryFolder(t);
  const data = join(folder, "data");
  await generateContentSet({ items: 30, seed: 3, out: data });
  return { out: join(folder, "warehouse"), data };
}

const RUNS = "SELECT run, previous_run FROM run_history ORDER BY sequence";
const VERSIONS =
  "SELECT count(*), count(*) FILTER (valid_from_run = (SELECT min(run) FROM run_history)) FROM mapped_value_history";

long("carries the history on from a run that published a database alone", async (t) => {
  const { out, data } = await few(t);
  const first = await servedNight({ out, data, port: 0, pipelineUrl: DUCKDB_ALONE });
  const { port } = first;
  const second = await servedNight({ out, data, port, pipelineUrl: DUCKDB_ALONE });
  assert.doesNotMatch(second.summary.warnings.join(), /history/);
  await using published = await openPublished(second.summary.directory);
  assert.deepEqual(await published.rows(RUNS), [
    [first.summary.run, null],
    [second.summary.run, first.summary.run],
  ]);
  const [[versions, ofFirst] = []] = await published.rows(VERSIONS);
  assert.ok(Number(versions) > 0);
  assert.equal(ofFirst, versions);
});

test("refuses a history of a newer form before the service is asked for anything", async (t) => {
  const { out, data } = await few(t);
  const { summary, port } = await servedNight({ out, data, port: 0 });
  await makeNewer(summary.directory);
  const before = await readdir(join(out, "runs"));
  // Nobody listens there any more.
  const url = `http://127.0.0.1:${port}`;
  const error = await failsWith("config.newer_version", exportFrom({ url, out, pipelineUrl: HISTORY }));
  assert.match(error.message, /^The history in .* was written by a newer version of content-warehouse/);
  assert.deepEqual(await readdir(join(out, "runs")), before);
});

/** Writes a history of the form after this program's. */
async function makeNewer(directory: string): Promise<void> {
  await rewrite(directory, { run_history: "SELECT * REPLACE (history_version + 1 AS history_version)" });
}

/** Writes a run as the program before this one did. */
async function makeOlder(directory: string): Promise<void> {
  const newest = "(SELECT max_by(run, sequence) FROM run_history)";
  await rewrite(directory, {
    content: "SELECT *, TIMESTAMPTZ '2026-11-20 02:00:00Z' AS observed_at",
    content_history: `SELECT * REPLACE (coalesce(last_seen_run, ${newest}) AS last_seen_run)`,
    run_history: "SELECT * REPLACE (1 AS history_version)",
  });
}

/** Makes tables of a published run anew, as its database, its one file of each and its manifest would have them. */
async function rewrite(directory: string, tables: Readonly<Record<string, string>>): Promise<void> {
  const database = join(directory, "warehouse.duckdb");
  const files = new Map([["warehouse.duckdb", database]]);
  await chmod(database, 0o600);
  const instance = await DuckDBInstance.create(database);
  const connection = await instance.connect();
  for (const [table, select] of Object.entries(tables)) {
    const folder = join(directory, "parquet", table);
    const [name = ""] = await readdir(folder);
    const path = join(folder, name);
    files.set(`parquet/${table}/${name}`, path);
    await connection.run(`CREATE OR REPLACE TABLE "${table}" AS ${select} FROM "${table}"`);
    const written = join(directory, "..", "..", "rewritten.parquet");
    await connection.run(`COPY "${table}" TO '${written}'`);
    await chmod(path, 0o600);
    await copyFile(written, path);
  }
  connection.closeSync();
  instance.closeSync();
  const manifest = await readManifest(directory);
  const restated = manifest.files.map(async (file) => {
    const path = files.get(file.path);
    if (path === undefined) return file;
    const bytes = await readFile(path);
    return { ...file, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
  });
  const manifestFile = join(directory, "manifest.json");
  await chmod(manifestFile, 0o600);
  const text = JSON.stringify({ ...manifest, files: await Promise.all(restated) }, undefined, 2);
  await writeFile(manifestFile, `${text}\n`);
}

long("carries on a history of the older form, and answers over it as over its own", async (t) => {
  const { out, data } = await few(t);
  const later = `${data}-later`;
  await cp(data, later, { recursive: true });
  await writeFile(join(later, "content.ndjson"), `${(await itemsIn(data)).slice(0, 20).join("\n")}\n`);
  let port = 0;
  const found: unknown[][] = [];
  for (const [place, isOlder] of [
    ["a", false],
    ["b", true],
  ] as const) {
    const clock = new HurriedClock();
    const at = { out: join(out, place), clock, config: { acceptShrink: true } } as const;
    const told: unknown[] = [];
    for (const [night, set] of [data, later, data].entries()) {
      const served = await servedNight({ ...at, data: set, port });
      port = served.port;
      const { directory, changes, warnings } = served.summary;
      if (night === 0 && isOlder) await makeOlder(directory);
      told.push(changes, warnings);
      if (night > 0) told.push(await historyRows(directory), ...(await answers(at.out, data)));
    }
    found.push(told);
  }
  const [own = [], older = []] = found;
  assert.equal(older.length, own.length);
  for (const [place, told] of own.entries()) assert.deepEqual(older[place], told);
});

long(
  "writes the same bytes of the history for the same answers, also where items came, changed and went",
  async (t) => {
    const { out, data } = await few(t);
    const later = `${data}-later`;
    await generateContentSet({ items: 20, seed: 3, out: later });
    let port = 0;
    const files: Map<string, string>[] = [];
    for (const place of [`${out}-1`, `${out}-2`]) {
      const clock = new HurriedClock();
      ({ port } = await servedNight({ out: place, data, port, clock }));
      const { summary } = await servedNight({
        out: place,
        data: later,
        port,
        clock,
        config: { acceptShrink: true },
      });
      files.push(await historyFiles(summary.directory));
    }
    assert.ok((files[0]?.size ?? 0) >= HISTORY_TABLES.length);
    assert.deepEqual(files[0], files[1]);
  },
);

/** SHA-256 of each Parquet file of the history. */
async function historyFiles(directory: string): Promise<Map<string, string>> {
  const { files } = await readManifest(directory);
  const own = files.filter(({ path }) =>
    HISTORY_TABLES.some(({ name }) => path.startsWith(`parquet/${name}/`)),
  );
  return new Map(own.map(({ path, sha256 }) => [path, sha256]));
}

const itemsIn = async (data: string): Promise<string[]> =>
  (await readFile(join(data, "content.ndjson"), "utf8")).trim().split("\n");

/** What is said of the current run and the one before, and of an item of all nights and one that the second had not. */
async function answers(out: string, data: string): Promise<string[]> {
  const items = await itemsIn(data);
  const [stayed = "", returned = ""] = [items[0], items.at(-1)].map((line = "{}") => JSON.parse(line).id);
  const calls: readonly [typeof diffCommand, ...string[]][] = [
    [diffCommand],
    [explainCommand, stayed],
    [explainCommand, returned],
    [explainCommand, returned, "--run", "1"],
    [diffCommand, "1", "current"],
  ];
  const told: string[] = [];
  for (const [command, ...args] of calls) {
    const { text, error } = await outcome(command, [...args, "--warehouse", out, "--format", "json"]);
    told.push(text + error?.message);
  }
  // The service's clock goes on.
  return told.map((text) => text.replaceAll(/answered [-0-9 :]+ UTC/g, "answered"));
}

/** The histories but for the form of each run. */
async function historyRows(directory: string) {
  await using published = await openPublished(directory);
  const rows: unknown[] = [];
  for (const { name, columns } of HISTORY_TABLES) {
    const list = columns.map((column) => column.name).filter((column) => column !== "history_version");
    rows.push(await published.rows(`SELECT ${list.join(", ")} FROM ${name} ORDER BY ALL`));
  }
  return rows;
}
