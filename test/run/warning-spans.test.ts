/** Since when checks warn, night after night. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { replayCommand } from "../../src/cli/commands/replay.ts";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { outcome } from "../cli/capture.ts";
import { long } from "../long.ts";
import { exportFrom, MAPPING, rowsOf, temporaryFolder } from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";
import { summaryText } from "./summary-text.ts";

const CHECK = "foreign key content.localized_from_id → content";
const SPAN = `SELECT figure, warning_runs, warning_since FROM run_checks WHERE check_name = '${CHECK}'`;

/** What is published of the check, and when the run started. */
async function spanOf(directory: string) {
  const [row] = await rowsOf(directory, SPAN);
  const [figure, nights, since] = row ?? [];
  return { figure: Number(figure), nights: nights === null ? null : Number(nights), since: String(since) };
}

/** A service of which so many items are translations of one that is not there. */
async function warehouse(t: Parameters<typeof temporaryFolder>[0]) {
  const service = await Scripted.start(t, itemsOf(4));
  const out = await temporaryFolder(t);
  const night = async (dangling: number, keepRuns = 1): Promise<RunSummary> => {
    service.items = itemsOf(4).map((item, place) =>
      place < dangling ? { ...item, localized_from_id: "c-999" } : item,
    );
    return await exportFrom({ url: service.url, out, config: { keepRuns } });
  };
  return { out, night };
}

test("a warning says for how many nights it is the same, though the first of them are pruned, and begins anew when it comes back", async (t) => {
  const { out, night } = await warehouse(t);
  const first = await night(1);
  const begun = await spanOf(first.directory);
  assert.deepEqual([begun.figure, begun.nights], [1, 1]);
  const second = await night(2);
  assert.match(summaryText(second), new RegExp(`Checks .*${CHECK}: 2, for 2 nights`));
  const third = await night(2);
  assert.deepEqual(second.removedRuns, [first.run]);
  assert.deepEqual(await spanOf(third.directory), { figure: 2, nights: 3, since: begun.since });
  const shown = await outcome(runsCommand, ["show", "current", "--warehouse", out]);
  assert.match(shown.text, new RegExp(`${CHECK} .* 2 │ +0 │ +3 │`));
  const replayed = await outcome(replayCommand, ["--warehouse", out]);
  assert.equal(replayed.error, undefined, "the run before is gone, and the run knows");
  assert.deepEqual(await spanOf(join(out, "current")), { figure: 2, nights: 3, since: begun.since });
  const clean = await night(0);
  assert.deepEqual(await spanOf(clean.directory), { figure: 0, nights: null, since: "null" });
  const again = await spanOf((await night(1)).directory);
  assert.deepEqual([again.figure, again.nights], [1, 1]);
  assert.notEqual(again.since, begun.since);
});

long("the summary tells what warns anew first, and for how many nights what is known warns", async (t) => {
  const service = await Scripted.start(t, itemsOf(1));
  const mappings = [{ id: "m-1", external_site_id: "d-1", field_name: "colour", values: [] }];
  const color = { id: "f-1", name: "color", field_type: "select", mappings };
  service.script = ({ kind }) => (kind === "custom_fields" ? { body: [color] } : undefined);
  const out = await temporaryFolder(t);
  const night = async (customFields: string[]) =>
    await exportFrom({ url: service.url, out, pipelineUrl: MAPPING, config: { customFields } });
  const nameless = /^1 destination in mappings has no name: [^(]*\.$/;
  const {
    warnings: [first = ""],
    newWarnings,
  } = await night(["color"]);
  assert.match(first, nameless);
  assert.deepEqual(newWarnings, [first]);
  const { warnings, newWarnings: since } = await night(["color", "colr"]);
  assert.deepEqual(since, warnings.slice(0, 1));
  assert.equal(warnings.length, 2);
  assert.match(warnings[0] ?? "", /^The service knows no custom field "colr"\./);
  assert.equal(warnings[1], `${first} (For 2 nights.)`);
});
