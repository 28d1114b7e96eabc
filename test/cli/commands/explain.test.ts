import assert from "node:assert/strict";
import { test } from "node:test";
import { explainCommand } from "../../../src/cli/commands/explain.ts";
import { sampleWarehouse } from "../../audit/sample.ts";
import { long } from "../../long.ts";
import { capture, outcome } from "../capture.ts";
import { program } from "../running.ts";

const out = await sampleWarehouse();
const SLUG = "why-your-tent-is-wet-inside-and-what-to-do-about-it";
const explain = (...args: string[]) => capture(explainCommand, [...args, "--warehouse", out]);

test("an explanation begins with what each destination receives, then what is not sent and why", async () => {
  const text = await explain("fellgate-mid");
  const parts = text.split("\n\n");
  assert.match(
    parts[0] ?? "",
    /^Fellgate Mid\nItem \w+, slug fellgate-mid, .*\nPublished by run 000001-\S+\.$/,
  );
  assert.equal(
    parts[3],
    [
      "Print Archive, which says that it supports no mappings, receives:",
      '  "SECTION": ["D"]',
      "  Not sent:",
      '    season: "AW24" (archived): unmapped, the mapping 5435482451ec3cfb8be8fe6b has no entry for it',
      "  No mapping for the values in language, owner_team, seo_title, region, legal_review_date, audience, claims, " +
        "cta_text, hero_image, quality_score, priority, translation_status, cta_link, seo_description and featured_skus.",
    ].join("\n"),
  );
  assert.match(
    parts[4] ?? "",
    /\n {4}cta_text: "See the range": a field of the type text has no value mappings\n/,
  );
  assert.match(parts.at(-1) ?? "", /^Read with request \d+, answered .* UTC\. --steps shows each rule, /);
  assert.doesNotMatch(text, /SHA-256/);
});

test("with --steps, one field at one destination is explained rule by rule, with the evidence", async () => {
  const text = await explain(SLUG, "--destination", "Web CMS", "--field", "region", "--steps");
  const instant = "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC";
  const lines = [
    "Why your tent is wet inside, and what to do about it",
    `Item 66d57e529df0deca35000000, slug ${SLUG}, content type "Article", last changed ${instant}\\.`,
    "Published by run 000001-\\S+\\.",
    "",
    "Web CMS receives:",
    '  "market": \\["nordic"\\]',
    "",
    "Step by step; the numbers are those of the mapping procedure's rules\\.",
    "",
    "Web CMS",
    "  1  Web CMS is the destination a2e2f3220fa6939a6a43c501\\. It supports custom field mappings\\.",
    "",
    "  region \\(0f54ae5d6e353c46e3583e1f\\)",
    "  2  Its mapping for Web CMS is f9ece04e4db7723e41ef8cfd\\.",
    '  3  Web CMS calls it "market"\\. The mapping has 6 entries\\. The field launch_market has that name there too: a collision\\. Their values share one list\\.',
    "  4  A multiselect field has value mappings: each value is looked up\\.",
    '  5  The item has "caf893c7c05eb1c37b247cec": the ID of "Nordics"\\.',
    '  6  The entry 99d2ad268cd71d3690522f18 makes it "nordic"\\.',
    `     So since ${instant}, run 000001-\\S+, with which the history begins\\.`,
    "",
    "  7  So Web CMS receives:",
    '       "market": \\["nordic"\\]',
    "",
    "Where this was read",
    `  The item stood on page 1 of the dynamic listing, pass 1, at position 0\\. That was request \\d+, answered ${instant}; the response has the SHA-256 [0-9a-f]{64}\\.`,
    "  Its document is kept in raw/dynamic/dynamic-000001-1-00000\\.parquet, with the SHA-256 [0-9a-f]{64}\\. There the rules read:",
    '    /custom_fields/0f54ae5d6e353c46e3583e1f  \\["caf893c7c05eb1c37b247cec"\\]',
    "  The definitions and mappings came with request \\d+, the destinations with requests \\d+, \\d+ and \\d+ of the same run; their SHA-256 stand in run_requests\\.",
    "  The run published the same: 17 rows of content_mapped_values and 2 payloads for this item, compared with what the rules give\\.",
  ];
  assert.match(text, new RegExp(`^${lines.join("\\n")}\\n$`));
});

test("on a screen the lines fit, and nothing steers it", async () => {
  const text = await capture(explainCommand, [SLUG, "--steps", "--warehouse", out], 80);
  for (const line of text.split("\n")) {
    const longest = Math.max(
      ...line
        .trim()
        .split(" ")
        .map((word) => word.length),
    );
    assert.ok(line.length <= 80 || longest > 60, line);
  }
  assert.doesNotMatch(text.replaceAll("\n", ""), /[\p{Cc}\p{Bidi_Control}]/u);
});

test("json has the steps, the payloads and the evidence, narrowed by the filters", async () => {
  const answer = JSON.parse(await explain(SLUG, "--json", "--field", "region", "--destination", "Web CMS"));
  assert.equal(answer.item.slug, SLUG);
  assert.deepEqual(
    answer.destinations.map((each: { identification: string }) => each.identification),
    ["Web CMS"],
  );
  const rules = answer.destinations[0].steps.map((step: { rule: number }) => step.rule);
  assert.deepEqual(rules.slice(0, 6), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(answer.destinations[0].payload.market, ["nordic"]);
  assert.deepEqual(answer.evidence.document.parts, [
    {
      customFieldId: "0f54ae5d6e353c46e3583e1f",
      pointer: "/custom_fields/0f54ae5d6e353c46e3583e1f",
      json: '["caf893c7c05eb1c37b247cec"]',
    },
  ]);
  const all = JSON.parse(await explain(SLUG, "--json"));
  assert.equal(all.destinations.length, 4);
  assert.equal(all.fields.length, 35);
});

test("an earlier run is explained by its number, its name or an instant", async () => {
  const text = await explain(SLUG, "--run", "1", "--field", "region");
  assert.equal(await explain(SLUG, "--as-of", "1", "--field", "region"), text);
  assert.equal(await explain(SLUG, "--as-of", "2999-01-01T00:00:00Z", "--field", "region"), text);
  const failed = async (...args: string[]) =>
    (await outcome(explainCommand, [SLUG, "--warehouse", out, ...args])).error;
  assert.match(
    (await failed("--as-of", "2001-01-01"))?.message ?? "",
    /^No run had started by 2001-01-01: the history of the current run 000001-\S+ begins with 000001-/,
  );
  for (const wrong of [
    "2001-13-01",
    "2026-02-30",
    "2026-11-31T02:00:00Z",
    "2026-11-20T25:00",
    "2026-11-20 2",
  ]) {
    const error = await failed("--as-of", wrong);
    assert.equal(error?.code, "config.invalid", wrong);
    assert.match(
      error?.message ?? "",
      /is no instant; write 2026-11-20T02:00:00Z, 2026-11-20 for the beginning/,
    );
  }
  assert.match(
    (await failed("--as-of", "yesterday"))?.message ?? "",
    / knows a run "yesterday"\. .* An instant is written 2026-11-20T02:00:00Z\.$/,
  );
  assert.equal((await failed("--as-of", "1", "--run", "1"))?.code, "config.invalid");
  assert.equal((await failed("--run", "9"))?.code, "config.not_found");
});

test("an instant may have a blank before the time, and is UTC unless it names a zone", async () => {
  const [, start = ""] = /\nPublished by run \d+-(\d{8}T\d{6})Z/.exec(await explain(SLUG)) ?? [];
  const [day, time] = [
    start.replace(/^(....)(..)(..).*/, "$1-$2-$3"),
    start.replace(/.*T(..)(..)(..)$/, "$1:$2:$3"),
  ];
  const started = Date.parse(`${day}T${time}Z`);
  const later = new Date(started + 3_600_000).toISOString().slice(0, 19);
  for (const instant of [
    `${day} ${time}`,
    `${day}T${time}`,
    `${day} ${time} UTC`,
    `${day}T${time}Z`,
    `${later}+01:00`,
  ]) {
    assert.match(await explain(SLUG, "--as-of", instant), /\nPublished by run 000001-/, instant);
  }
  const before = new Date(started - 1000).toISOString().slice(0, 19).replace("T", " ");
  const { error } = await outcome(explainCommand, [SLUG, "--warehouse", out, "--as-of", before]);
  assert.match(error?.message ?? "", /^No run had started by /);
});

long("what does not exist ends the process with 2 and one sentence with the nearest names", async () => {
  for (const [args, said] of [
    [[SLUG.slice(1)], `The nearest is "${SLUG}".`],
    [[SLUG, "--destination", "web cms"], 'The nearest is "Web CMS".'],
    [[SLUG, "--field", "seasn"], 'The nearest is "season"'],
  ] as const) {
    const { code, stdout, stderr } = await program(["explain", ...args, "--warehouse", out]);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.ok(stderr.includes(said), stderr);
    assert.equal(stderr.trimEnd().split("\n").length, 1);
  }
});

test("a title that would fill a screen is cut there, and whole in a file", async () => {
  const title = "Why your tent is wet inside, and what to do about it";
  assert.ok((await explain(SLUG)).startsWith(`${title}\n`));
  const shown = await capture(explainCommand, [SLUG, "--warehouse", out], 16);
  assert.ok(shown.replaceAll("\n", " ").startsWith(`${title.slice(0, 47)}… Item `), shown.slice(0, 100));
});
