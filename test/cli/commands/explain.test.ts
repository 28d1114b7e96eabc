import assert from "node:assert/strict";
import { chmod, cp, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { explainCommand } from "../../../src/cli/commands/explain.ts";
import { sampleWarehouse } from "../../audit/sample.ts";
import { temporaryFolder } from "../../folders.ts";
import { capture, outcome } from "../capture.ts";

const out = await sampleWarehouse();
const SLUG = "why-your-tent-is-wet-inside-and-what-to-do-about-it";
const explain = (...args: string[]) => capture(explainCommand, [...args, "--warehouse", out]);

test("an explanation begins with what each destination receives and what is missing, then has each value", async () => {
  const text = await explain("fellgate-mid");
  const [lines = "", values = "", without = ""] = text.split("\n\n");
  assert.match(lines, /\nWeb CMS: .*"hike-multi", .*, season_code missing: no entry for "AW24"\n/s);
  assert.match(
    lines,
    /\nPrint Archive: nothing \(supports no mappings\)\nFellgate Mid: item 670cd6f29df0deca3500001a, /,
  );
  const [, ofArchive = ""] = values.split("\nPrint Archive (supports no mappings)\n");
  assert.match(ofArchive, /│ season +│ AW24 \(Autumn\/Winter 2024\) +│ unmapped; archived +│ +│/);
  assert.match(values, /│ See the range +│ no_value_mapping +│ +│ /);
  assert.doesNotMatch(values, /5435482451ec3cfb8be8fe6b/, "the ID of a mapping is for --steps");
  assert.match(without, /│ Print Archive +│ language, owner_team, seo_title, region, /);
});

test("of a field without a value in the item it says so, and not that nothing is mapped", async () => {
  assert.match(
    await explain(SLUG, "--destination", "Web CMS", "--field", "production_hours"),
    /^Web CMS: nothing, because the item has no value of the field\nWhy your tent /,
  );
});

test("with --steps, one field at one destination is explained rule by rule, with the evidence", async () => {
  const asked = [SLUG, "--destination", "Web CMS", "--field", "region", "--steps"];
  const { steps, evidence } = JSON.parse(await explain(...asked, "--format", "json"));
  const told = steps.map(({ rule, input, result, evidence: by }: Record<string, unknown>) => [
    rule,
    input,
    result,
    by,
  ]);
  const id = "0f54ae5d6e353c46e3583e1f";
  const value = "caf893c7c05eb1c37b247cec";
  assert.match(told[0][3], /^requests \d+, \d+ and \d+$/);
  assert.match(told[1][3], /^request \d+$/);
  assert.deepEqual(told, [
    [1, "a2e2f3220fa6939a6a43c501", "it supports custom field mappings", told[0][3]],
    [2, id, "the mapping f9ece04e4db7723e41ef8cfd", told[1][3]],
    [
      3,
      "f9ece04e4db7723e41ef8cfd",
      'called "market", with 6 entries; launch_market has that name there too: a collision, their values share one list',
      null,
    ],
    [4, "multiselect", "it has value mappings: each value is looked up", null],
    [5, value, 'the ID of "Nordics" (from `custom_field_value_ids`)', `/custom_fields/${id} ["${value}"]`],
    [6, value, 'the entry 99d2ad268cd71d3690522f18 makes it "nordic"', null],
    [7, "market", '["nordic"]', "content_external_payloads"],
  ]);
  const [document, response, ...lookups] = evidence;
  const { what, pass, page, position, file } = document;
  assert.deepEqual(
    { what, pass, page, position, file },
    {
      what: "dynamic document",
      pass: 1,
      page: 1,
      position: 0,
      file: "raw/dynamic/dynamic-000001-1-00000.parquet",
    },
  );
  assert.equal(response.what, "dynamic response");
  assert.equal(lookups.length, 4);
  for (const { sha256 } of evidence) assert.match(sha256, /^[0-9a-f]{64}$/);
  assert.match(
    await explain(...asked),
    /│ region +│ +6 │ caf893c7c05eb1c37b247cec │ the entry 99d2ad268cd71d3690522f18 makes it "nordic"/,
  );
});

test("an item is found by its title too; a title of several items lists them with type, day and ID", async () => {
  assert.match(await explain(" FELLGATE mid"), /Fellgate Mid: item 670cd6f29df0deca3500001a, /);
  const { error } = await outcome(explainCommand, ["Monthly planning", "--warehouse", out]);
  assert.equal(error?.code, "config.not_found");
  assert.match(
    error?.message ?? "",
    /^2 items have the title "Monthly planning": [0-9a-f]{24} \(Shared Draft, edited \d{4}-\d\d-\d\d\), [0-9a-f]{24} \(.*\); name one by its ID\.$/,
  );
});

test("a damaged raw file is named, whatever DuckDB says of it", async (t) => {
  const copy = join(await temporaryFolder(t), "warehouse");
  await cp(out, copy, { recursive: true, verbatimSymlinks: true });
  const raw = join(copy, "current", "raw", "dynamic");
  const [file = ""] = await readdir(raw);
  await chmod(join(raw, file), 0o644);
  const opened = await open(join(raw, file), "r+");
  await opened.write(Buffer.from([255, 255, 255, 255]), 0, 4, 5000);
  await opened.close();
  const { error } = await outcome(explainCommand, [SLUG, "--warehouse", copy]);
  assert.equal(error?.code, "verify.failed");
  assert.match(error?.message ?? "", new RegExp(`its file raw/dynamic/${file} has different content`));
});

test("json has what the tables say, narrowed by the filters", async () => {
  const asked = ["--format", "json", "--field", "region", "--destination", "Web CMS"];
  const answer = JSON.parse(await explain(SLUG, ...asked));
  assert.equal(answer.item.slug, SLUG);
  assert.deepEqual(
    answer.payloads.map((each: Record<string, unknown>) => [
      each.destination,
      each.external_field_name,
      each.values,
    ]),
    [["Web CMS", "market", ["nordic"]]],
  );
  assert.deepEqual(Object.keys(answer), [
    ...["run", "verdict", "item", "passthrough", "destinations", "lead", "next"],
    ...["payloads", "values", "without_mapping"],
  ]);
  const all = JSON.parse(await explain(SLUG, "--format", "json"));
  assert.equal(all.values.length, 17);
  assert.match(all.lead, /\nWhy your tent is wet inside, .* Published by run \S+\.$/);
  assert.match(
    await explain(SLUG, "--field", "region", "--destination", "Web CMS"),
    /^Web CMS: market "nordic"\nWhy your tent is wet inside/,
  );
  assert.match(
    await explain(SLUG, "--field", "region", "--destination", "Web CMS", "--section", "payloads"),
    /\n\n {2}Web CMS {2}market {5}nordic\n\n/,
  );
  assert.deepEqual(all.next, ["--steps shows each rule, the entry and the document behind every value."]);
  const destinations = all.destinations.map((each: Record<string, unknown>) =>
    [each.identification, each.lookedUp, each.supportsMappings, each.reception].join(" "),
  );
  assert.deepEqual(destinations.toSorted(), [
    " false  receiving",
    "Partner Portal true true receiving",
    "Print Archive true false unsupported",
    "Web CMS true true receiving",
  ]);
});
