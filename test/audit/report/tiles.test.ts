/** Each figure and line of the first screen, and the sections behind them, against tables that say something else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type EarlierRuns, runListRow } from "../../../src/audit/questions/runs.ts";
import { reportOf } from "../../../src/show/page/report.ts";
import { PUBLISHED_CATALOG } from "../../../src/storage/database.ts";
import { all, execute, scalar } from "../../../src/storage/duckdb.ts";
import type { Manifest } from "../../../src/warehouse/manifest.ts";
import { opened, sampleWarehouse } from "../sample.ts";
import { parsePage, tableRecords } from "./dom.ts";

const out = await sampleWarehouse();

/** Queries in the place of tables, where `{}` is the table itself; and what is known of earlier runs. */
interface Edited {
  readonly tables?: Readonly<Record<string, string>>;
  readonly earlier?: EarlierRuns;
  readonly changes?: Manifest["changes"];
  readonly mappedChanges?: Manifest["mappedChanges"];
}

const FIRST: EarlierRuns = { previous: null, before: undefined, listed: [] };

const MISSING = "Missing values by destination";

async function pageOf({ tables = {}, earlier = FIRST, changes = null, mappedChanges = null }: Edited) {
  await using run = await opened(out);
  for (const [table, query] of Object.entries(tables)) {
    const text = query.replace("{}", `${PUBLISHED_CATALOG}.${table.replace(/^before_/, "")}`);
    await execute(run.connection, `CREATE OR REPLACE VIEW ${table} AS ${text}`);
  }
  const html = await reportOf({ ...run, manifest: { ...run.manifest, changes, mappedChanges }, earlier });
  const page = parsePage(html);
  const textsOf = (selector: string) =>
    page.all(selector).map(({ textContent }) => textContent.replaceAll(/\s+/g, " ").trim());
  const [verdict = ""] = textsOf(".verdict");
  return {
    html,
    verdict,
    heading: textsOf("h1")[0],
    isGreen: page.first(".verdict.good") !== undefined,
    /** What to look at, and the other lines. */
    look: textsOf(".look li"),
    lines: textsOf(".lines li"),
    /** New, edited and removed items, and the sentences of the blocks. */
    figures: textsOf(".figures a"),
    sentences: textsOf("#overview p"),
    /** Titles of pictures. */
    titles: textsOf("#overview title"),
    section: (id: string) => textsOf(`#${id}`)[0] ?? "",
    records: (caption: string) => tableRecords(page, caption),
  };
}

/** What of records stands under these heads. */
function cells(records: readonly Readonly<Record<string, string>>[], ...heads: readonly string[]) {
  return records.map((record) => heads.map((head) => record[head]));
}

const replacing = (columns: string) => `SELECT * REPLACE (${columns}) FROM {}`;

const REJECTS = `SELECT * FROM (VALUES
  (1, 'dynamic', 1, 2, 7, 'aa11', 'the item''s id is a number', NULL::JSON, NULL),
  (2, 'item', NULL, NULL, NULL, NULL, 'its title is <b>no</b> text', NULL::JSON, NULL)
) AS rejects(reject, mode, pass, page, position, content_id, reason, document, sha256)`;

const DRIFT = (lines: string) =>
  `SELECT *, NULL::BIGINT AS items FROM (VALUES ${lines}) AS drift(path, kind, count, example_content_id, example)`;

const plain = await pageOf({});

const NORDIC = "external_value = 'nordic'";
/** A first run with rejects, drift, passthrough and values that are not sent, whose instance has no name. */
const odd = await pageOf({
  tables: {
    content_mapped_values: replacing(
      `CASE WHEN ${NORDIC} THEN NULL ELSE external_value END AS external_value`,
    ),
    run: replacing(
      `1504 AS items_listed, 1500 AS items_loaded, 2 AS items_rejected, 1 AS items_removed, 1 AS items_unread,
       true AS passthrough,
       'https://content.example.com/api' AS instance_url`,
    ),
    run_rejects: REJECTS,
    run_drift: `SELECT * REPLACE (2 AS items) FROM (${DRIFT("('ai', 'unknown_field', 3, 'aa11', 'a summary')")})`,
    instances: replacing("NULL::VARCHAR AS name"),
  },
});

const LACKS_VALUES = "check_name = 'mapped values for the configured destinations'";
/** An unsettled run without mapped values, whose run before is no longer kept. */
const unsettled = await pageOf({
  tables: {
    run: replacing("'unsettled' AS verdict, 'pass 2 <b>differs</b>' AS reason"),
    run_checks: replacing(
      `CASE WHEN ${LACKS_VALUES} THEN 'warning' ELSE verdict END AS verdict,
       CASE WHEN ${LACKS_VALUES} THEN 'There are none.' ELSE detail END AS detail`,
    ),
  },
  earlier: { previous: 7, before: undefined, listed: [] },
});

const NEW_WARNING = "destinations in mappings that have no name";
/** A run beside one with other shares, one warning fewer and other drift. */
const beside = await pageBeside();

async function pageBeside() {
  await using run = await opened(out);
  const { manifest, directory } = run;
  const values = manifest.mappedValues ?? assert.fail();
  const counts = { mapped: 1, unmapped: 1, unknown: 0, empty: 0 };
  const destinations = values.destinations.map((each) => ({
    ...each,
    ...counts,
    reception: each.name === "Web CMS" ? ("unsupported" as const) : ("receiving" as const),
  }));
  const before = {
    ...{ run: "000041-20261119T020000Z", sequence: 41, directory },
    manifest: { ...manifest, mappedValues: { ...values, destinations } },
  };
  const row = runListRow(manifest, manifest, "");
  const night = { new: 0, edited: null, removed: 0 };
  const same = Object.fromEntries(Object.keys(manifest.rows).map((name) => [`before_${name}`, "FROM {}"]));
  return pageOf({
    tables: {
      ...same,
      before_run_checks: replacing(
        `CASE WHEN check_name = '${NEW_WARNING}' THEN 'passed' ELSE verdict END AS verdict`,
      ),
      run_drift:
        DRIFT(`('ai_<b>', 'unknown_field', 3, 'aa11', 'a summary'), ('old', 'unknown_field', 5, 'bb22', 'x'),
        ('rank', 'type', 2, 'cc33', '"7"'), ('owner.email', 'personal_dropped', 9, NULL, NULL)`),
      before_run_drift:
        DRIFT(`('old', 'unknown_field', 4, 'bb22', 'x'), ('gone', 'unknown_field', 6, 'dd44', 'only-before'),
        ('rank', 'type', 1, 'cc33', '"7"'), ('owner.email', 'personal_dropped', 8, NULL, NULL)`),
    },
    changes: { new: 1, edited: 1234, removed: 2 },
    mappedChanges: {
      ...{ items: 120, changed: 130, lost: 138, gained: 3, receptions: [] },
      largest: [
        {
          ...{ destination: "Web CMS", field: "market", lost: 64 },
          cause: 'the entry for "Care & Repair" was removed',
        },
      ],
    },
    earlier: { previous: 41, before, listed: Array.from({ length: 20 }, () => ({ ...row, ...night })) },
  });
}

test("items: loaded, listed, rejected, gone and not read are those of the run", () => {
  assert.match(odd.verdict, /^✓ Complete: 1,500 of 1,504 items; two passes /);
  assert.deepEqual(odd.look.slice(1), [
    "2 items rejected",
    "1 item gone since listed",
    "1 item listed too late to be read",
  ]);
  assert.ok(odd.sentences.includes("1,500 items, the first run"));
  assert.deepEqual(cells(odd.records("Rejects"), "item", "mode", "page", "position", "reason"), [
    ["aa11", "dynamic", "2", "7", "the item's id is a number"],
    ["", "item", "", "", "its title is <b>no</b> text"],
  ]);
});

test("the share that each destination has mapped, and values without an external value, are counts of the mapped values", async () => {
  await using run = await opened(out);
  const [counts] = await all(
    run.connection,
    `SELECT count_if(receives AND status = 'unmapped')::INT AS unmapped,
       count_if(receives AND status = 'unknown_value')::INT AS unknown
     FROM (
       SELECT status, supports_custom_field_mappings IS DISTINCT FROM false AS receives
       FROM content_mapped_values JOIN destinations USING (destination_id)
     )`,
  );
  const [unmapped = 0, unknown = 0] = [counts?.unmapped, counts?.unknown].map(Number);
  assert.ok(plain.sentences.includes(`${unmapped + unknown} missing values`), plain.sentences.join("\n"));
  const shares = await all(
    run.connection,
    `SELECT coalesce(identification, destination_id) AS name, count_if(status <> 'mapped')::INT AS missing,
       count_if(status = 'mapped') / count(*) AS share
     FROM content_mapped_values JOIN destinations USING (destination_id)
     WHERE status <> 'no_value_mapping' AND supports_custom_field_mappings IS DISTINCT FROM false
     GROUP BY identification, destination_id ORDER BY count_if(status <> 'mapped') DESC`,
  );
  assert.deepEqual(
    cells(plain.records(MISSING), "destination", "missing", "mapped"),
    shares.map(({ name, missing, share }) => [name, String(missing), `${(100 * Number(share)).toFixed(1)}%`]),
  );
});

test("beside what it misses a destination has what it missed before; one that receives values since, or no longer, says so", () => {
  assert.deepEqual(cells(beside.records(MISSING), "destination", "before"), [
    ["Partner Portal", "1"],
    ["20ff76a286238f962af5b190", "1"],
    ["Web CMS now receives values", ""],
  ]);
  assert.ok(beside.lines.includes("Print Archive no longer receives values supports no mappings"));
});

test("values that were lost are the first thing to look at, with where most were", () => {
  assert.equal(
    beside.look[0],
    'External values lost 138 values of 120 items (64 of market at Web CMS: the entry for "Care & Repair" was removed)',
  );
  assert.ok(
    beside.sentences.some((each) => each.endsWith(", 138 lost and 3 gained since run 41")),
    beside.sentences.join("\n"),
  );
});

test("the items of the night are new, edited and removed, with a column for each kept night", () => {
  assert.deepEqual(beside.figures, ["1 new", "1,234 edited", "2 removed"]);
  const [added = "", edited = "", removed = ""] = beside.titles.filter((each) => each.startsWith("Items "));
  assert.match(added, /^Items new: (run 1: 0, ){20}run 1: 1$/);
  assert.equal(edited, "Items edited: run 1: 1,234", "nights that do not know it have none");
  assert.match(removed, /^Items removed: (run 1: 0, ){20}run 1: 2$/);
});

test("where every value is mapped and every check passed, the figures say so", async () => {
  const page = await pageOf({
    tables: {
      content_mapped_values: "FROM {} WHERE status = 'mapped'",
      run_checks: replacing("'passed' AS verdict"),
      run_drift: "FROM {} LIMIT 0",
      destinations: replacing("coalesce(identification, 'Blog') AS identification"),
    },
  });
  const rows = cells(page.records(MISSING), "missing", "mapped");
  assert.ok(rows.length > 1 && rows.every((row) => row.join() === "0,100%"));
  assert.ok(page.sentences.includes("0 missing values"));
  assert.ok(page.sentences.includes("none"), "of new fields");
  assert.deepEqual(page.lines, []);
});

for (const [name, tables, why] of [
  [
    "no field is mapped",
    { content_mapped_values: "FROM {} LIMIT 0", custom_field_mappings: "FROM {} LIMIT 0" },
    "no custom field is mapped for a destination",
  ],
  [
    "no item has such a value",
    { content_mapped_values: "FROM {} WHERE status = 'no_value_mapping'" },
    "no item has a value of a field with a value mapping",
  ],
] as const) {
  test(`where ${name}, nothing says that all is covered`, async () => {
    const passed = { run_checks: replacing("'passed' AS verdict"), run_drift: "FROM {} LIMIT 0" };
    const named = { destinations: replacing("coalesce(identification, 'Blog') AS identification") };
    const page = await pageOf({ tables: { ...tables, ...passed, ...named } });
    assert.deepEqual(page.lines, [`No value to look at ${why}`]);
    assert.ok(page.section("coverage").includes(`There is no value to look at: ${why}.`));
    const told = page.html.replaceAll(/<script type="text\/plain".*?<\/script>/gs, "");
    assert.doesNotMatch(told, /[Ee]very value/);
  });
}

test("checks: those that warn are counted and named; beside a run before, the new ones alone", async () => {
  await using run = await opened(out);
  const rows = await all(run.connection, "SELECT verdict FROM run_checks");
  const warnings = rows.filter(({ verdict }) => verdict !== "passed").length;
  assert.ok(warnings > 3);
  const [named = ""] = plain.look;
  assert.ok(
    named.startsWith(
      `${warnings} warnings custom fields that look personal and are published: 1, ${NEW_WARNING}: 1, `,
    ),
  );
  assert.ok(named.endsWith(` and ${warnings - 3} more`));
  assert.equal(beside.look[1], `1 new warning ${NEW_WARNING}: 1`);
});

test("checks: the rows behind a figure are in the page, but not those that a test of the pipeline counts", async () => {
  const check = (name: string, row: string) =>
    `SELECT '${name}' AS check_name, 'warning' AS verdict, 1 AS figure, 0 AS expected, '' AS detail,
       '[{"row": "${row}"}]'::JSON AS examples`;
  const checks = [check("slugs", "of a check"), check("test: own", "of a test")];
  const { html } = await pageOf({ tables: { run_checks: checks.join(" UNION ALL ") } });
  assert.ok(html.includes("of a check") && html.includes("test: own"));
  assert.doesNotMatch(html, /of a test/);
});

test("the title is the instance's name; where nobody knows it, the host of the service", () => {
  assert.equal(plain.heading, "Tarnbrook Outdoor");
  assert.match(plain.html, /<title>Tarnbrook Outdoor, run 1: complete · content-warehouse<\/title>/);
  assert.equal(odd.heading, "content.example.com");
});

test("the verdict is green for a complete run alone, and never without its mapped values", () => {
  assert.ok(plain.isGreen);
  assert.equal(plain.verdict, "✓ Complete: 500 of 500 items; two passes and the service’s own count agree.");
  assert.ok(!unsettled.isGreen);
  assert.match(
    unsettled.verdict,
    /^! Unsettled, without mapped values: 500 of 500 items; the answers .* do not agree, .* meanwhile: pass 2 <b>differs<\/b>\. There are none\.$/,
  );
});

test("mapped values that are not sent are missing, and counted at destinations that receive values", async () => {
  await using run = await opened(out);
  const number = await scalar(
    run.connection,
    `SELECT count(*) FROM content_mapped_values WHERE receives AND ${NORDIC}`,
  );
  const told = `${number} of them empty no external value or name`;
  assert.ok(odd.lines.includes(told), odd.lines.join("\n"));
});

test("drift: what is new since the run before needs attention, and the policy's own counts stand apart", () => {
  assert.ok(beside.lines.includes("1 field not in the specification ai_<b> (3 times)"));
  assert.ok(beside.lines.includes("1 field without values gone (had 6 values)"));
  assert.ok(beside.lines.every((each) => !each.includes("rank") && !each.includes("owner.email")));
  assert.ok(!beside.html.includes("only-before"), "nothing that is only in the run before");
  assert.match(
    beside.section("drift"),
    /Compared with run 41\..*Values outside the contract: none Answers that contradict each other: none/,
  );
  assert.match(beside.section("drift"), /Done by the personal-data policy 1 row .*owner\.email/);
});

test("drift: without a run before it says so, and does not say that nothing vanished", () => {
  assert.ok(odd.lines.includes("1 field not in the specification ai (2 items)"), odd.lines.join("\n"));
  assert.match(
    odd.section("drift"),
    /This is the first run.*Changed types: none Values outside the contract: none Answers that contradict each other: none/,
  );
  assert.doesNotMatch(odd.section("drift"), /Vanished/);
  assert.match(
    unsettled.section("drift"),
    /Run 7, the one before, is no longer kept, cannot be read or has no mapped values/,
  );
});
