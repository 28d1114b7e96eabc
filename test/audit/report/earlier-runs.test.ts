import assert from "node:assert/strict";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { findEarlierRuns } from "../../../src/audit/questions/runs.ts";
import { removeTree } from "../../../src/common/tree.ts";
import { writeReport } from "../../../src/show/page/report.ts";
import { outputFolder, parseRunName } from "../../../src/warehouse/layout.ts";
import { readManifest } from "../../../src/warehouse/manifest.ts";
import { listRuns } from "../../../src/warehouse/retention.ts";
import { sampleWarehouse } from "../sample.ts";

const out = await sampleWarehouse();
const sample = await readManifest(join(out, "current"));

const RUNS = [
  "000003-20261117T020000Z",
  "000004-20261118T020000Z",
  "000005-20261119T020000Z",
  "000006-20261120T020000Z",
];

const STATED = { verdict: "complete" } as const;

/** A folder with the manifests of these runs, each changed; a run without a change has none. */
async function kept(changes: readonly (object | null)[]) {
  const folder = await mkdtemp(join(tmpdir(), "kept-runs-"));
  after(() => removeTree(folder));
  for (const [index, change] of changes.entries()) {
    const run = RUNS[index] ?? "";
    await mkdir(join(folder, "runs", run), { recursive: true });
    if (change === null) continue;
    const identity = parseRunName(run);
    const manifest = { ...sample, run, sequence: identity?.sequence, ...change };
    await writeFile(join(folder, "runs", run, "manifest.json"), JSON.stringify(manifest));
  }
  return outputFolder(folder);
}

test("the kept runs before a run are those with a lower number, the newest first, without damaged ones", async () => {
  const items = { listed: 12, loaded: 9, rejected: 3, vanished: 0, unread: 0, listedLast: 12, counted: 12 };
  const folder = await kept([
    { items, mappedValues: { mapped: 1, unmapped: 7, unknown: 0, empty: 0, destinations: [] } },
    null,
    { mappedValues: null },
    {},
  ]);
  const { listed } = findEarlierRuns(await listRuns(folder), {
    ...STATED,
    sequence: 6,
    previousRun: null,
    ancestors: [],
  });
  assert.deepEqual(
    listed.map((row) => [
      row.sequence,
      row.items,
      row.rejected,
      row.without_external_value,
      row.unmapped,
      row.without_external_value_receiving,
    ]),
    [
      [5, 500, 0, null, null, null],
      [3, 9, 3, 7, 7, 0],
    ],
  );
});

test("the run before is the one that was current, if it is kept, can be read and has mapped values", async () => {
  const { content_mapped_values: _, ...rows } = sample.rows;
  const folder = await kept([{}, null, { rows }, {}]);
  const asked = async (previousRun: string | null) => {
    const { previous, before } = findEarlierRuns(await listRuns(folder), {
      ...STATED,
      sequence: 7,
      previousRun,
      ancestors: [],
    });
    return [previous, before?.sequence];
  };
  assert.deepEqual(await asked(RUNS[0] ?? ""), [3, 3], "also after a rollback");
  assert.deepEqual(await asked(RUNS[1] ?? ""), [4, undefined], "damaged");
  assert.deepEqual(await asked(RUNS[2] ?? ""), [5, undefined], "without mapped values");
  assert.deepEqual(await asked("000001-20261115T020000Z"), [1, undefined], "no longer kept");
  assert.deepEqual(await asked(null), [null, undefined]);
});

test("a run before whose database cannot be opened leaves the page without a comparison", async () => {
  const folder = await mkdtemp(join(tmpdir(), "report-"));
  after(() => removeTree(folder));
  const result = join(folder, "result");
  await cp(join(out, "current"), result, { recursive: true });
  await chmod(result, 0o700);
  await rm(join(result, "report.html"));
  const damaged = join(folder, "damaged");
  await mkdir(damaged);
  await writeFile(join(damaged, "warehouse.duckdb"), "no database");
  const reportBeside = (manifest: typeof sample) =>
    writeReport({
      result,
      database: join(result, "warehouse.duckdb"),
      temporaryDirectory: join(folder, "spilled"),
      manifest: sample,
      earlier: {
        previous: 41,
        before: { run: "000041-20261119T020000Z", sequence: 41, directory: damaged, manifest },
        listed: [],
      },
    });
  await reportBeside(sample);
  const page = await readFile(join(result, "report.html"), "utf8");
  assert.match(page, /Run 41, the one before, is no longer kept, cannot be read or has no mapped values/);
  await cp(join(out, "current", "warehouse.duckdb"), join(damaged, "warehouse.duckdb"));
  const other = { ...sample, rows: { ...sample.rows, no_such_table: 1 } };
  await assert.rejects(reportBeside(other), /no_such_table/, "any other failure is told");
});
