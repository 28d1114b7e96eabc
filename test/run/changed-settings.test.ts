/** Settings that change what a run means are told once, by the run that is the first to have them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "../../src/common/secret.ts";
import type { Config } from "../../src/config/config.ts";
import { redService, SHOP } from "./colored.ts";
import { exportFrom, MAPPING, scriptedWorld, temporaryFolder } from "./running.ts";
import { itemsOf } from "./scripted.ts";

const MALL = { name: "Mall", platform: "External" };

test("G13a: a destination that is no longer configured is told once by its name, and what it leaves empty is not", async (t) => {
  const { service, answer } = await redService(t, 3);
  const out = await temporaryFolder(t);
  const night = async (destinations: Config["destinations"]) => {
    const body = destinations.map(({ name, platform }) => ({
      id: name === SHOP.name ? "d1" : "d2",
      identification: name,
      platform,
      supports_custom_field_mappings: true,
    }));
    service.script = (question) => (question.kind === "destinations" ? { body } : answer(question));
    return exportFrom({ url: service.url, out, pipelineUrl: MAPPING, config: { destinations } });
  };
  const unconfigured = (name: string) =>
    `Destination "${name}" on platform "External" is no longer configured, so its values are not counted and have its ID in place of its name. If it still receives content, name it in \`destinations\`.`;
  await night([SHOP, MALL]);
  // The mall has no mappings, so that nothing else tells.
  assert.deepEqual((await night([SHOP])).newWarnings, [unconfigured("Mall")]);
  assert.deepEqual((await night([SHOP])).warnings, []);
  const without = await night([]);
  assert.deepEqual(
    without.newWarnings.filter((each) => !each.includes("in mappings has no name")),
    [unconfigured("Shop")],
  );
  assert.deepEqual((await night([])).newWarnings, []);
});

test("J4a: another personalData is told once; a stricter one names the runs that have more, and the command that removes them", async (t) => {
  const { exported } = await scriptedWorld(t, itemsOf(2));
  const key = new Secret("0123456789abcdef0123456789abcdef");
  const policies = ["drop", "keep", "keep", "hash", "keep", "drop", "drop"] as const;
  const told: (readonly string[])[] = [];
  for (const policy of policies) {
    const personalData = policy === "hash" ? { policy, key } : { policy, key: null };
    told.push((await exported({ config: { personalData, keepRuns: 3 } })).newWarnings);
  }
  const changed = (before: string, now: string) =>
    `\`personalData\` is "${now}" since this run, and was "${before}" in the run before.`;
  const remove =
    '"content-warehouse runs prune --keep 1" removes all but the current run, "content-warehouse lake vacuum --all-versions" the same of a lake.';
  const stillIn = (runs: string) => ` What it leaves out is still in ${runs}: ${remove}`;
  assert.deepEqual(told, [
    [],
    [changed("drop", "keep")],
    [],
    [changed("keep", "hash") + stillIn("run 3, run 2")],
    [changed("hash", "keep")],
    [changed("keep", "drop") + stillIn("run 5, run 4")],
    [],
  ]);
});
