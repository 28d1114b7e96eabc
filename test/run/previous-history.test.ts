import assert from "node:assert/strict";
import { chmod, readdir, truncate } from "node:fs/promises";
import { join } from "node:path";
import { packagePath } from "../../src/common/package-root.ts";
import { applyChanges } from "../../src/service/changes.ts";
import { long } from "../long.ts";
import { servedNight } from "./nights.ts";
import { openPublished, temporaryFolder } from "./running.ts";

const night = (out: string, data: string, port: number) => servedNight({ out, data, port });

long(
  "carries the history over two nights of the sample, answers for both with two files attached, and starts anew after damage",
  async (t) => {
    const folder = await temporaryFolder(t);
    const out = join(folder, "warehouse");
    const changed = join(folder, "changed");
    const sample = packagePath("data/sample");
    await applyChanges(sample, packagePath("data/sample-night-2"), changed);
    const first = await night(out, sample, 0);
    const second = await night(out, changed, first.port);
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
    for (const [run, ledger] of [
      [first.summary.run, "earlier.main.content_mapped_values"],
      [second.summary.run, "content_mapped_values"],
    ] as const) {
      const history = `SELECT * ${own} ${asOf(run)}`;
      assert.deepEqual(await published.rows(`${history} EXCEPT ALL FROM ${ledger}`), [], run);
      assert.deepEqual(await published.rows(`FROM ${ledger} EXCEPT ALL ${history}`), [], run);
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
    // The other file, by USE: it knows its own run alone.
    await published.connection.run("USE earlier");
    assert.deepEqual(await published.rows("SELECT count(*) FROM run_history"), [["1"]]);
    assert.deepEqual(
      await published.rows("SELECT count(*) FROM mapped_values_as_of(now()::TIMESTAMPTZ + INTERVAL 1 DAY)"),
      [["7730"]],
    );

    const damaged = second.summary.directory;
    const [file = ""] = await readdir(join(damaged, "parquet", "mapped_value_history"));
    const path = join(damaged, "parquet", "mapped_value_history", file);
    await chmod(path, 0o600);
    await truncate(path, 100);
    const third = await night(out, changed, first.port);
    assert.match(third.summary.warnings.join(), /The history starts over with this run: .* another size/);
    await using anew = await openPublished(third.summary.directory);
    assert.deepEqual(await anew.rows("SELECT run, previous_run FROM run_history"), [
      [third.summary.run, null],
    ]);
    const check = "SELECT verdict, figure FROM run_checks WHERE check_name LIKE '%history was carried on'";
    assert.deepEqual(await anew.rows(check), [["warning", "0"]]);
  },
);
