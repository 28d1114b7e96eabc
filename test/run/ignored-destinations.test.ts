/** Destinations that the setting `ignoreDestinations` acknowledges. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { replayCommand } from "../../src/cli/commands/replay.ts";
import type { Config } from "../../src/config/config.ts";
import { outcome } from "../cli/capture.ts";
import { colored, colorField } from "./colored.ts";
import { exportFrom, MAPPING, rowsOf, temporaryFolder } from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";
import { summaryText } from "./summary-text.ts";

const SHOP = { name: "Shop", platform: "External" };
const PRINT = { name: "Print", platform: "Archive" };

/** Two items, one with a color that no destination has an entry for: a shop, a printer without mappings, one by its ID. */
async function warehouse(t: TestContext) {
  const service = await Scripted.start(t, itemsOf(2));
  service.arrange = colored(["v1", "Red"], ["v2", "Blue"]);
  const found = [
    { id: "d-shop", identification: "Shop", platform: "External", supports_custom_field_mappings: true },
    { id: "d-print", identification: "Print", platform: "Archive", supports_custom_field_mappings: false },
  ];
  service.script = ({ kind }) => {
    if (kind === "destinations") return { body: found };
    if (kind !== "custom_fields") return undefined;
    const values = [
      ["v1", "Red"],
      ["v2", "Blue"],
    ] as const;
    const blue = ["v2", "bleu"] as const;
    return { body: [colorField(values, { "d-shop": blue, "d-print": blue, "d-gone": blue })] };
  };
  const out = await temporaryFolder(t);
  const night = async (ignoreDestinations: Config["ignoreDestinations"]) =>
    await exportFrom({
      url: service.url,
      out,
      pipelineUrl: MAPPING,
      config: { destinations: [SHOP, PRINT], ignoreDestinations },
    });
  return { out, night };
}

const ROWS = "SELECT destination_id, count(*)::INT FROM content_mapped_values GROUP BY ALL ORDER BY ALL";
const IGNORED = "SELECT ignored_destinations FROM run";
const NAMELESS =
  "SELECT verdict, figure::INT FROM run_checks WHERE check_name = 'destinations in mappings that have no name'";

test("a destination that is ignored is not warned of and not counted, its rows stay, and the run says which", async (t) => {
  const { out, night } = await warehouse(t);
  const warned = await night([]);
  assert.match(summaryText(warned), /Look at +1 destination in mappings has no name \(/);
  const ignoring = await night(["d-gone", "Print:Archive", "Shp"]);
  assert.deepEqual(ignoring.warnings, [
    '`ignoreDestinations` names "Shp", but no destination of the run has this name. The nearest is "Shop".',
  ]);
  assert.deepEqual([ignoring.verdict, ignoring.noMappedValues], [warned.verdict, warned.noMappedValues]);
  assert.match(summaryText(ignoring), /Missing +1 value \(1 unmapped, 0 unknown\)/);
  const { directory } = ignoring;
  assert.deepEqual(await rowsOf(directory, ROWS), [
    ["d-gone", 2],
    ["d-print", 2],
    ["d-shop", 2],
  ]);
  assert.deepEqual(await rowsOf(directory, IGNORED), [['["d-gone","d-print"]']]);
  assert.deepEqual(await rowsOf(warned.directory, NAMELESS), [["warning", 1]]);
  assert.deepEqual(await rowsOf(directory, NAMELESS), [["passed", 0]]);
  const unknown = "names in ignoreDestinations that no destination of the run has";
  const told = `SELECT verdict, detail FROM run_checks WHERE check_name = '${unknown}'`;
  assert.deepEqual(await rowsOf(directory, told), [["warning", "Shp"]]);
  const replayed = await outcome(replayCommand, ["--warehouse", out]);
  assert.equal(replayed.error, undefined);
  assert.deepEqual(await rowsOf(join(out, "current"), IGNORED), [['["d-gone","d-print"]']]);
});
