/** Which history a run continues. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmod, readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Config } from "../../src/config/config.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { failsWith } from "../failing.ts";
import { long } from "../long.ts";
import { redService, SHOP } from "./colored.ts";
import { exportFrom, HISTORY, MAPPING, openPublished, rowsOf, temporaryFolder } from "./running.ts";

/** Nights of a service whose items have a mapped value. */
async function nights(t: TestContext) {
  const { service } = await redService(t, 3);
  const out = join(await temporaryFolder(t), "warehouse");
  const night = (pipelineUrl: string, config: Partial<Config> = {}) =>
    exportFrom({ url: service.url, out, pipelineUrl, config: { destinations: [SHOP], ...config } });
  return { service, out, night };
}

const VERSIONS =
  "SELECT count(*)::INTEGER, count(*) FILTER (valid_from_run = (SELECT min(run) FROM run_history))::INTEGER FROM mapped_value_history";

/** Both runs have a history, and no mapped value changed in the second. */
async function assertCarried(first: RunSummary, second: RunSummary): Promise<void> {
  assert.doesNotMatch(second.warnings.join(), /history/);
  await using published = await openPublished(second.directory);
  assert.deepEqual(await published.rows("SELECT run, previous_run FROM run_history ORDER BY sequence"), [
    [first.run, null],
    [second.run, first.run],
  ]);
  assert.deepEqual(await published.rows(VERSIONS), [[3, 3]]);
}

long("carries the history on from a run that published a database alone", async (t) => {
  const { night } = await nights(t);
  await assertCarried(await night(`${HISTORY}?duckdb`), await night(`${HISTORY}?duckdb`));
});

test("G12: a run continues the history over a run without one, and refuses a history of a newer program", async (t) => {
  const { service, out, night } = await nights(t);
  const first = await night(HISTORY);
  const error = await failsWith("config.invalid", night(MAPPING));
  assert.match(
    error.message,
    /^The pipeline mapping lacks 9 of the \d+ tables that the current run in .* has \(run_history, destination_history, custom_field_history and 6 more\); name another folder with --warehouse, or, if nobody needs them any more, run once with --accept-pipeline\.$/,
  );
  await night(MAPPING, { acceptPipeline: true });
  const last = await night(HISTORY);
  await assertCarried(first, last);

  await makeNewer(last.directory);
  const before = await readdir(join(out, "runs"));
  service.close();
  const newer = await failsWith("config.newer_version", night(HISTORY));
  assert.match(newer.message, /^The history in .* was written by a newer version of content-warehouse/);
  assert.deepEqual(await readdir(join(out, "runs")), before);
});

/** Writes a history of the form after this program's, and its size and digest into the manifest. */
async function makeNewer(directory: string): Promise<void> {
  const [name = ""] = await readdir(join(directory, "parquet/run_history"));
  const path = `parquet/run_history/${name}`;
  const file = join(directory, path);
  const written = join(directory, "../../rewritten.parquet");
  await using published = await openPublished(directory);
  await published.connection.run(
    `COPY (SELECT * REPLACE (history_version + 1 AS history_version) FROM '${file}') TO '${written}'`,
  );
  const bytes = await readFile(written);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const manifest = await readManifest(directory);
  const files = manifest.files.map((each) =>
    each.path === path ? { ...each, bytes: bytes.length, sha256 } : each,
  );
  for (const [place, content] of [
    [file, bytes],
    [join(directory, "manifest.json"), JSON.stringify({ ...manifest, files })],
  ] as const) {
    await chmod(place, 0o600);
    await writeFile(place, content);
  }
}

long("a history whose file is damaged starts over, which a warning and a check say", async (t) => {
  const { night } = await nights(t);
  const { directory } = await night(HISTORY);
  const folder = join(directory, "parquet/mapped_value_history");
  const [file = ""] = await readdir(folder);
  await chmod(join(folder, file), 0o600);
  await truncate(join(folder, file), 100);
  const next = await night(HISTORY);
  assert.match(next.warnings.join(), /The history starts over with this run: .* another size/);
  const runs = await rowsOf(next.directory, "SELECT run, previous_run FROM run_history");
  assert.deepEqual(runs, [[next.run, null]]);
  const check = "SELECT verdict, figure FROM run_checks WHERE check_name LIKE '%history was carried on'";
  assert.deepEqual(await rowsOf(next.directory, check), [["warning", "0"]]);
});
