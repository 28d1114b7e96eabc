/** Which history a run continues. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmod, readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import type { Config } from "../../src/config/config.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { applyChanges } from "../../src/service/load.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { failsWith } from "../failing.ts";
import { long } from "../long.ts";
import { redService, SHOP } from "./colored.ts";
import { servedNight } from "./nights.ts";
import { exportFrom, HISTORY, MAPPING, openPublished, temporaryFolder } from "./running.ts";

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
    /^The pipeline mapping lacks 9 of the \d+ tables that the current run in .* has \(run_history, destination_history, custom_field_history and 6 more\); name another folder with --warehouse, or, if nobody needs these tables any more, run once with --accept-pipeline\.$/,
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

long(
  "carries the history over two nights of the sample, answers for both with two files attached, and starts anew after damage",
  async (t) => {
    const folder = await temporaryFolder(t);
    const out = join(folder, "warehouse");
    const changed = join(folder, "changed");
    const sample = packagePath("data/sample");
    await applyChanges(sample, packagePath("data/sample-night-2"), changed);
    const first = await servedNight({ out, data: sample, port: 0 });
    const second = await servedNight({ out, data: changed, port: first.port });
    assert.deepEqual([first.summary.verdict, second.summary.verdict], ["complete", "complete"]);
    const ofHistory = [first, second].flatMap(({ summary }) => summary.warnings);
    assert.doesNotMatch(ofHistory.join(), /history/);

    await using published = await openPublished(second.summary.directory);
    await published.connection.run(
      `ATTACH '${join(first.summary.directory, "warehouse.duckdb")}' AS "earlier" (READ_ONLY)`,
    );
    const own =
      "EXCLUDE (value_number, copy, valid_from_run, valid_from, valid_from_sequence, valid_to_run, valid_to, " +
      "valid_to_sequence, version_from_run, cause, version_to_run, valid_to_cause)";
    const asOf = (run: string) =>
      `FROM mapped_values_as_of((SELECT started_at FROM run_history WHERE run = '${run}'))`;
    for (const [run, mappedValues] of [
      [first.summary.run, "earlier.main.content_mapped_values"],
      [second.summary.run, "content_mapped_values"],
    ] as const) {
      const history = `SELECT * ${own} ${asOf(run)}`;
      assert.deepEqual(await published.rows(`${history} EXCEPT ALL FROM ${mappedValues}`), [], run);
      assert.deepEqual(await published.rows(`FROM ${mappedValues} EXCEPT ALL ${history}`), [], run);
    }
    const causes =
      "SELECT array_to_string(causes, ', '), count(*) FROM mapped_value_changes(1, 2) GROUP BY ALL ORDER BY ALL";
    assert.deepEqual(await published.rows(causes), [
      ["definition_changed", "42"],
      ["destination_changed", "505"],
      ["item_changed", "7"],
      ["item_removed", "16"],
      ["mapping_changed", "164"],
      ["reordered", "2"],
    ]);
    const damaged = second.summary.directory;
    const [file = ""] = await readdir(join(damaged, "parquet", "mapped_value_history"));
    const path = join(damaged, "parquet", "mapped_value_history", file);
    await chmod(path, 0o600);
    await truncate(path, 100);
    const third = await servedNight({ out, data: changed, port: first.port });
    assert.match(third.summary.warnings.join(), /The history starts over with this run: .* another size/);
    await using anew = await openPublished(third.summary.directory);
    assert.deepEqual(await anew.rows("SELECT run, previous_run FROM run_history"), [
      [third.summary.run, null],
    ]);
    const check = "SELECT verdict, figure FROM run_checks WHERE check_name LIKE '%history was carried on'";
    assert.deepEqual(await anew.rows(check), [["warning", "0"]]);
  },
);
