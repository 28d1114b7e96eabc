import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { type Config, loadConfig } from "../../../src/config/config.ts";
import type { RunSummary } from "../../../src/observe/run-summary.ts";
import { failsWith } from "../../failing.ts";
import { few, long } from "../../long.ts";
import { CANARY, exportFrom, MAPPING, rowsOf, temporaryFolder } from "../../run/running.ts";
import { item, type Json, Scripted } from "../../run/scripted.ts";
import { summaryText } from "../../run/summary-text.ts";

const WEB = {
  id: "d-1",
  identification: "Web CMS",
  platform: "External",
  supports_custom_field_mappings: true,
};
const CSM = { ...WEB, id: "d-2", identification: "Web CSM" };
const SHOP = { ...WEB, id: "d-3", identification: "Shop" };
const REGION = {
  id: "f-1",
  name: "region",
  field_type: "select",
  formatted_select_values: [{ id: "v-1", value: "North", display: "North", archived: false }],
  mappings: [
    {
      id: "m-1",
      field_name: "market",
      external_site_id: "d-1",
      values: [{ id: "e-1", value_id: "v-1", value: "north" }],
    },
  ],
};

/** An item with a value of the field, as each listing shows it; `custom_fields` only where the column was asked for. */
function itemWith(columns: readonly string[] | "full", value: string): Json {
  const detail = { id: "f-1", name: "region", field_type: "select", value: "North" };
  if (columns === "full") return item("c-1", 1, { custom_fields: [detail] });
  const asked = columns.includes("custom_fields") ? { custom_fields: { "f-1": value } } : {};
  return item("c-1", 1, { ...asked, custom_fields_details: [{ ...detail, value_id: value }] });
}

interface Offered {
  /** What the service had in a night before. */
  readonly before?: readonly Json[];
  readonly destinations?: readonly Json[];
  readonly fields?: readonly Json[];
  /** Of the item's field. */
  readonly value?: string;
}

/** The nightly run against a service that has one item; the second one where there was something before. */
async function night(t: TestContext, config: Partial<Config>, offered: Offered = {}): Promise<RunSummary> {
  const { before, destinations = [WEB], fields = [REGION], value = "v-1" } = offered;
  let found = before ?? destinations;
  const service = await Scripted.start(t, []);
  service.script = ({ kind, mode, columns }) => {
    if (kind === "destinations") return { body: found };
    if (kind === "custom_fields") return { body: fields };
    service.items = [itemWith(mode === "dynamic" ? columns : "full", value)];
    return undefined;
  };
  const out = join(await temporaryFolder(t), "warehouse");
  const run = () => exportFrom({ url: service.url, out, pipelineUrl: MAPPING, config });
  if (before !== undefined) await run();
  found = destinations;
  return run();
}

const named = (...names: string[]) => names.map((name) => ({ name, platform: "External" }));

const NOT_THERE =
  "SELECT verdict, figure, detail FROM run_checks WHERE check_name LIKE '%does not have' ORDER BY check_name";

async function checksOf({ directory }: RunSummary): Promise<unknown[]> {
  const [row] = await rowsOf(
    directory,
    "SELECT verdict, figure, detail FROM run_checks WHERE check_name = 'mapped values for the configured destinations'",
  );
  return [...(row ?? [])];
}

suite("a run without mapped values for its destinations", () => {
  const cases: readonly [what: string, Partial<Config>, Offered, warning: RegExp][] = [
    [
      "says that the service has none of them",
      { destinations: named("Web CSM", "Shop") },
      { before: [CSM, SHOP] },
      /: the service has none of "Web CSM" and "Shop"\.$/,
    ],
    [
      "says that the columns leave out what they are made from",
      { destinations: named("Web CMS"), columns: ["id", "title", "custom_fields_details"] },
      {},
      /: the setting `columns` leaves out "custom_fields", from which they are computed; add it\.$/,
    ],
    [
      "says that nothing is mapped for them",
      { destinations: named("Web CMS") },
      { fields: [{ ...REGION, mappings: [] }] },
      /: no custom field of the items has a mapping for any of them\.$/,
    ],
    [
      "says that something is mapped for others alone",
      { destinations: named("Web CMS") },
      { fields: [{ ...REGION, mappings: [{ ...REGION.mappings[0], external_site_id: "d-2" }] }] },
      /: no custom field of the items has a mapping for any of them\.$/,
    ],
    [
      "says that what is mapped stands on no item",
      { destinations: named("Web CMS"), customFields: ["season"] },
      {
        fields: [
          { ...REGION, mappings: null },
          { ...REGION, id: "f-2", name: "season" },
        ],
      },
      /: no item has a value of a custom field that is mapped for them\.$/,
    ],
    [
      "says that no value has an entry",
      { destinations: named("Web CMS") },
      { value: "v-2" },
      /: no value of an item has an entry in a mapping\.$/,
    ],
  ];
  for (const [what, config, offered, warning] of few(cases, 1)) {
    test(what, async (t) => {
      const summary = await night(t, config, offered);
      assert.equal(summary.verdict, "complete");
      assert.match(summary.warnings[0] ?? "", warning);
      assert.equal(summary.noMappedValues, summary.warnings[0]);
      assert.match(summaryText(summary), /^Complete, WITHOUT MAPPED VALUES: /);
      const [verdict, , detail] = await checksOf(summary);
      assert.deepEqual([verdict, detail], ["warning", summary.warnings[0]]);
    });
  }

  test("is not spoken of where there are some", async (t) => {
    const summary = await night(t, { destinations: named("Web CMS") });
    assert.deepEqual(summary.warnings, []);
    assert.equal(summary.noMappedValues, null);
    assert.deepEqual(await checksOf(summary), ["passed", "1", ""]);
  });

  long("is not spoken of where an alias names the column, or no destination is configured", async (t) => {
    const aliases = { acme_fields: "custom_fields" };
    const aliased = await night(t, { destinations: named("Web CMS"), columns: ["acme_fields"], aliases });
    assert.doesNotMatch(aliased.warnings.join(), /leaves out/);
    assert.equal((await night(t, {})).noMappedValues, null);
  });
});

suite("what the configuration names and the service does not have", () => {
  test("is told with the nearest name that is known", async (t) => {
    const config = { destinations: named("Web CMS", "Web CSM"), customFields: ["regoin", "wholly else"] };
    const summary = await night(t, config, { before: [WEB, CSM] });
    assert.deepEqual(await rowsOf(summary.directory, NOT_THERE), [
      ["warning", "1", "Web CSM"],
      ["warning", "2", "regoin, wholly else"],
    ]);
    assert.deepEqual(summary.warnings, [
      'Destination "Web CSM" on platform "External" no longer exists, so its mapped values are missing. The nearest is "Web CMS".',
      'The service knows no custom field "regoin". The nearest is "region".',
      'The service knows no custom field "wholly else".',
    ]);
  });

  long("is told with the platform where a service that looks loosely has it on another", async (t) => {
    const destinations = [{ name: "Web CMS", platform: "Mail" }];
    const { warnings } = await night(t, { destinations }, { before: [{ ...WEB, platform: "Mail" }] });
    assert.equal(
      warnings[1],
      'Destination "Web CMS" on platform "Mail" no longer exists, so its mapped values are missing. The nearest is "Web CMS (External)".',
    );
  });

  test("G13: ends the run before it reads anything, if it is a destination that the run before did not ask for", async (t) => {
    const error = await failsWith("config.invalid", night(t, { destinations: named("Web CMS", "Web CSM") }));
    assert.equal(
      error.message,
      'There is no destination "Web CSM" on platform "External" (did you mean "Web CMS"?). Correct `destinations` or --destination.',
    );
  });

  long("is never guessed at where items carry the name", async (t) => {
    const { warnings } = await night(t, {}, { fields: [{ ...REGION, name: "regions" }] });
    assert.deepEqual(warnings, ['The service knows no custom field "region".']);
  });
});

suite("a destination that only a mapping names", () => {
  long("is told, until the configuration has its name", async (t) => {
    const summary = await night(t, {});
    assert.deepEqual(summary.warnings, [
      "1 destination in mappings has no name (d-1). If the service no longer has it, remove its mappings there, or name it in `ignoreDestinations`; otherwise name it in `destinations` or with `--destination`.",
    ]);
    const checks = await rowsOf(
      summary.directory,
      "SELECT verdict, figure, detail FROM run_checks WHERE check_name = 'destinations in mappings that have no name'",
    );
    assert.deepEqual(checks, [["warning", "1", "d-1"]]);
    assert.deepEqual((await night(t, { destinations: named("Web CMS") })).warnings, []);
  });
});

suite("a column that nothing matches", () => {
  const load = async (t: TestContext, spec: object): Promise<Config> => {
    const cwd = await temporaryFolder(t);
    await mkdir(cwd, { recursive: true });
    await writeFile(join(cwd, "content-warehouse.config.json"), JSON.stringify(spec));
    const env = { CONTENT_API_URL: "https://content.example.com", CONTENT_API_TOKEN: CANARY };
    return loadConfig({ cwd, env, flags: {}, sampleBy: "--sample" });
  };

  test("is refused before any request, with the nearest name and the way to ask for it all the same", async (t) => {
    const error = await failsWith("config.invalid", load(t, { columns: ["id", "titel", "nope"] }));
    assert.match(error.message, /`columns\[1\]`: there is no column "titel"\. The nearest is "title"\./);
    assert.match(
      error.message,
      /`columns\[2\]`: there is no column "nope"\. If the service has one, add it to `aliases`: \{ "nope": "nope" \}\./,
    );
    assert.equal(error.exitCode, 2);
  });

  test("is taken where an alias names it, also by its own name", async (t) => {
    const spec = { columns: ["id", "acme_title", "of_a_newer_version"] };
    const aliases = { acme_title: "title", of_a_newer_version: "of_a_newer_version" };
    assert.deepEqual((await load(t, { ...spec, aliases })).columns, spec.columns);
  });
});
