/** Runs that are replaced get later numbers, and every history tells the same past by them. */
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { removeTree } from "../../src/common/tree.ts";
import { all, execute } from "../../src/storage/duckdb.ts";
import { parquetPath } from "../../src/storage/parquet-sql.ts";
import { quoteLiteral } from "../../src/storage/sql-text.ts";
import {
  type OutputFolder,
  outputFolder,
  parseRunName,
  runName,
  stagingFolder,
} from "../../src/warehouse/layout.ts";
import { writeManifest } from "../../src/warehouse/manifest.ts";
import { type Numbered, numberAnew, withDescendants } from "../../src/warehouse/replacement/numbers.ts";
import { renamedCells } from "../../src/warehouse/replacement/renamed.ts";
import { replaceable } from "../../src/warehouse/replacement/replace.ts";
import { listRuns } from "../../src/warehouse/retention.ts";
import { digestOf } from "../../src/warehouse/verify.ts";
import { temporaryFolder } from "../load/fixtures.ts";
import { either } from "../long.ts";
import fc from "../properties.ts";
import { statement } from "./published.ts";

/** A run goes on from the kept one at that place of them, the newest first; then one of the others may be removed. */
const night = fc.record({
  from: fc.constantFrom(0, 0, 0, 1, 2),
  removed: fc.constantFrom(undefined, undefined, 0, 1, 2),
});
const story = fc.record({
  nights: fc.array(night, { minLength: 3, maxLength: 6 }),
  /** Place of the oldest run that is replaced. */
  oldest: fc.constantFrom(0, 0, 1, 2),
  way: fc.constantFrom("erase", "replay"),
});
type Nights = readonly { readonly from: number; readonly removed: number | undefined }[];

/** A run, and before it those that it goes on from, the oldest first. */
type Lineage = readonly string[];

const COLUMNS = ["run", "sequence", "previous_run"];

/** Publishes the nights, and gives the lineage of each run. */
async function publishAll(folder: OutputFolder, nights: Nights, connection: DuckDBConnection) {
  const lineages = new Map<string, Lineage>();
  let kept: string[] = [];
  for (const [place, { from, removed }] of nights.entries()) {
    const run = runName(place + 1, new Date(Date.UTC(2026, 10, place + 1, 2)));
    const before = kept[Math.min(from, kept.length - 1)];
    const lineage = [...(lineages.get(before ?? "") ?? []), run];
    lineages.set(run, lineage);
    await publish(folder, lineage, connection);
    const gone = removed === undefined ? undefined : kept[removed];
    if (gone !== undefined) await removeTree(join(folder.runs, gone));
    kept = [run, ...kept.filter((each) => each !== gone)];
  }
  return lineages;
}

/** The last run of the lineage, which has its history and nothing else. */
async function publish(folder: OutputFolder, lineage: Lineage, connection: DuckDBConnection) {
  const staging = stagingFolder(folder, lineage.at(-1) ?? "");
  const directory = join(folder.runs, staging.run);
  const path = parquetPath("run_history", staging.sequence, 0);
  await mkdir(join(directory, "parquet", "run_history"), { recursive: true });
  const rows = lineage.map((name, at) => {
    const previous = at === 0 ? "NULL::VARCHAR" : quoteLiteral(lineage[at - 1] ?? "");
    return `(${quoteLiteral(name)}, ${parseRunName(name)?.sequence}, ${previous})`;
  });
  const history = `SELECT * FROM (VALUES ${rows.join(", ")}) AS made (${COLUMNS.join(", ")})`;
  await execute(connection, `COPY (${history}) TO ${quoteLiteral(join(directory, path))}`);
  const stated = {
    ...statement(staging, 0),
    loaders: ["parquet" as const],
    rows: { run_history: rows.length },
    previousRun: lineage.at(-2) ?? null,
    endedAt: "2026-11-20T02:01:00.000Z",
  };
  const content = await digestOf(join(directory, path));
  await writeManifest(directory, stated, [{ path, rows: rows.length, ...content }]);
}

/** Runs of the history under the new names, with the run before each, in the order of the new numbers. */
async function renumberedHistory({ from, renamed }: Numbered, connection: DuckDBConnection) {
  const cells = renamedCells(COLUMNS, renamed);
  const list = COLUMNS.map((name) => `${cells.get(name)} AS ${name}`);
  const file = join(from.directory, parquetPath("run_history", from.sequence, 0));
  const sql = `SELECT ${list.join(", ")} FROM ${quoteLiteral(file)} t ORDER BY 2`;
  return (await all(connection, sql)).map((row) => [row.run, row.previous_run]);
}

test("a history tells the same past by the new numbers, whatever was rolled back or removed before", async (t) => {
  const place = await temporaryFolder(t, "stories");
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  let stories = 0;
  const law = fc.asyncProperty(story, async ({ nights, oldest, way }) => {
    const folder = outputFolder(join(place, String(stories++)));
    const lineages = await publishAll(folder, nights, connection);
    const runs = (await listRuns(folder)).map(replaceable).toReversed();
    const at = Math.min(oldest, runs.length - 1);
    const erased = runs.slice(at);
    const replaced =
      way === "erase" ? erased : await withDescendants(erased[0] ?? assert.fail(), runs, folder.staging);
    const names = new Map<string, string>();
    for (const numbered of await numberAnew(folder, { replaced, runs }, folder.staging)) {
      const { from, to, renamed } = numbered;
      assert.equal(renamed.get(from.run), to);
      for (const [old, now] of renamed) {
        assert.equal(names.get(old) ?? now, now, "a run has one new name, whoever names it");
        names.set(old, now);
        assert.deepEqual(parseRunName(now)?.startedAt, parseRunName(old)?.startedAt);
      }
      const lineage = lineages.get(from.run)?.map((name) => renamed.get(name) ?? name) ?? [];
      assert.deepEqual(
        await renumberedHistory(numbered, connection),
        lineage.map((name, at) => [name, lineage[at - 1] ?? null]),
      );
    }
    assert.equal(new Set(names.values()).size, names.size, "no two runs have one name");
  });
  const goneBetween = [
    { from: 0, removed: undefined },
    { from: 0, removed: undefined },
    { from: 0, removed: 0 },
  ];
  const examples = ["erase", "replay"].map((way): [{ nights: Nights; oldest: number; way: string }] => [
    { nights: goneBetween, oldest: 0, way },
  ]);
  await fc.assert(law, { numRuns: either(8, 60), examples });
});
