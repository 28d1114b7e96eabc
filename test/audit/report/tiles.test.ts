/** Each tile and sentence of the first screen, and the sections behind them, against tables that say something else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EarlierRuns } from "../../../src/audit/questions/earlier-runs.ts";
import { reportOf } from "../../../src/show/page/report.ts";
import { all, execute, PUBLISHED_CATALOG, scalar } from "../../../src/storage/duckdb.ts";
import { few } from "../../long.ts";
import { opened, sampleWarehouse } from "../sample.ts";
import { parsePage, tableRecords } from "./dom.ts";
import { pageItems } from "./page-data.ts";

const out = await sampleWarehouse();

/** Queries in the place of tables, where `{}` is the table itself; and what is known of earlier runs. */
interface Edited {
  readonly tables?: Readonly<Record<string, string>>;
  readonly earlier?: EarlierRuns;
}

/** The page of the run as it is, made once. */
let plain: ReturnType<typeof pageOf> | undefined;

function plainPage() {
  plain ??= pageOf({});
  return plain;
}

const FIRST: EarlierRuns = { previous: null, before: undefined, listed: [] };

async function pageOf({ tables = {}, earlier = FIRST }: Edited) {
  await using run = await opened(out);
  for (const [table, query] of Object.entries(tables)) {
    const text = query.replace("{}", `${PUBLISHED_CATALOG}.${table.replace(/^before_/, "")}`);
    await execute(run.connection, `CREATE OR REPLACE VIEW ${table} AS ${text}`);
  }
  const html = await reportOf({ ...run, earlier });
  const page = parsePage(html);
  const textsOf = (selector: string) =>
    page.all(selector).map(({ textContent }) => textContent.replaceAll(/\s+/g, " ").trim());
  const tile = (name: string) => {
    const found = page.all(".figures div").find((each) => each.first("dt")?.textContent === name);
    return ["strong", "span"].map((part) => found?.first(part)?.textContent);
  };
  const [verdict = ""] = textsOf(".verdict");
  return {
    html,
    tile,
    verdict,
    heading: textsOf("h1")[0],
    isGreen: page.first(".verdict.good") !== undefined,
    attention: textsOf(".attention li"),
    empty: textsOf(".empty"),
    section: (id: string) => textsOf(`#${id}`)[0] ?? "",
    records: (caption: string) => tableRecords(page, caption),
  };
}

/** What of records stands under these heads. */
function cells(records: readonly Readonly<Record<string, string>>[], ...heads: readonly string[]) {
  return records.map((record) => heads.map((head) => record[head]));
}

const figure = (value: number) => value.toLocaleString("en-US");
const replacing = (columns: string) => `SELECT * REPLACE (${columns}) FROM {}`;

const REJECTS = `SELECT * FROM (VALUES
  (1, 'dynamic', 1, 2, 7, 'aa11', 'the item''s id is a number', NULL::JSON, NULL),
  (2, 'item', NULL, NULL, NULL, NULL, 'its title is <b>no</b> text', NULL::JSON, NULL)
) AS rejects(reject, mode, pass, page, position, content_id, reason, document, sha256)`;

test("items: loaded, listed, rejected, gone and not read are those of the run", async () => {
  const run = replacing(
    "1504 AS items_listed, 1500 AS items_loaded, 2 AS items_rejected, 1 AS items_removed, 1 AS items_unread",
  );
  const page = await pageOf({ tables: { run, run_rejects: REJECTS } });
  assert.deepEqual(page.tile("Items loaded"), [
    "1,500",
    "1,504 listed, 2 rejected, 1 gone since, 1 listed too late to be read",
  ]);
  assert.ok(page.attention.includes("2 items were rejected."));
  assert.deepEqual(cells(page.records("Rejects"), "item", "mode", "page", "position", "reason"), [
    ["aa11", "dynamic", "2", "7", "the item's id is a number"],
    ["", "item", "", "", "its title is <b>no</b> text"],
  ]);
});

test("values mapped and those without an external value are counts of the mapped values", async () => {
  const page = await plainPage();
  await using run = await opened(out);
  const [counts] = await all(
    run.connection,
    `SELECT count_if(receives AND status = 'unmapped')::INT AS unmapped,
       count_if(receives AND status = 'unknown_value')::INT AS unknown,
       count_if(receives AND status = 'mapped')::INT AS mapped,
       count_if(receives AND status IN ('unmapped', 'unknown_value'))::INT AS lacking
     FROM (
       SELECT status, identification IS NOT NULL AND supports_custom_field_mappings AS receives
       FROM content_mapped_values JOIN destinations USING (destination_id)
     )`,
  );
  const [mapped = 0, lacking = 0] = [counts?.mapped, counts?.lacking].map(Number);
  const [unmapped = 0, unknown = 0] = [counts?.unmapped, counts?.unknown].map(Number);
  const possible = mapped + lacking;
  assert.deepEqual(page.tile("Values mapped"), [
    `${((mapped / possible) * 100).toFixed(1)}%`,
    `${figure(mapped)} of ${figure(possible)} values of fields with a value mapping, at destinations that receive values`,
  ]);
  assert.deepEqual(page.tile("Without an external value"), [
    `${figure(lacking)} values`,
    `${figure(unmapped)} unmapped, ${figure(unknown)} unknown, at destinations that receive values; of 835 without an external value, 173 at Print Archive (supports no mappings), 212 at 20ff76a286238f962af5b190 (known by its ID alone)`,
  ]);
});

test("values without an external value are named, those of most items first, and the others counted", async () => {
  const page = await plainPage();
  await using run = await opened(out);
  const ambiguous = await scalar(
    run.connection,
    "SELECT count(*) FROM content_mapped_values WHERE ambiguous",
  );
  assert.ok(
    page.attention.includes(
      `${ambiguous} values are ambiguous: several entries, select values or mappings fit, of which the first was used.`,
    ),
  );
  assert.ok(
    page.attention.includes("1 external name of several fields: market at Web CMS (launch_market, region)."),
  );
  const rows = page.records("Values without an external value");
  const apart = new Set(["Print Archive", "20ff76a286238f962af5b190"]);
  const counting = rows.filter(({ destination = "" }) => !apart.has(destination));
  assert.deepEqual(
    rows.slice(0, counting.length),
    counting,
    "those of destinations that receive values first",
  );
  const first = counting
    .slice(0, 3)
    .map((row) => `"${row.value}" of ${row.field} for ${row.destination} (${row.items} items)`);
  const told = `${counting.length} values unmapped or unknown: ${first.join(", ")} and ${counting.length - 3} more.`;
  assert.ok(page.attention.includes(told), page.attention.join("\n"));
});

test("where every value is mapped, the tiles and the list say so", async () => {
  const page = await pageOf({
    tables: {
      content_mapped_values: "FROM {} WHERE status = 'mapped' AND NOT ambiguous AND NOT collision",
      run_checks: replacing("'passed' AS verdict"),
      run_drift: "FROM {} LIMIT 0",
      destinations: replacing("coalesce(identification, 'Blog') AS identification"),
      custom_field_mappings: "FROM {} WHERE external_field_name <> 'market'",
    },
  });
  assert.equal(page.tile("Values mapped")[0], "100%");
  assert.deepEqual(page.tile("Without an external value"), [
    "0 values",
    "0 unmapped, 0 unknown, at destinations that receive values",
  ]);
  assert.equal(page.tile("Checks")[0], "all passed");
  assert.deepEqual(page.attention, []);
  assert.ok(
    page.empty.includes(
      "Nothing: every check passed, and every value of a field with a value mapping is mapped at each destination that receives values.",
    ),
  );
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
    assert.deepEqual(page.tile("Values mapped"), ["none", why]);
    assert.deepEqual(page.tile("Without an external value"), ["not known", why]);
    assert.ok(page.section("coverage").includes(`There is no value to look at: ${why}.`));
    const told = page.html.replaceAll(/<script type="text\/plain".*?<\/script>/gs, "");
    assert.doesNotMatch(told, /[Ee]very value/);
  });
}

test("checks: the tile, the list and the section count those that did not pass", async () => {
  const page = await plainPage();
  await using run = await opened(out);
  const rows = await all(
    run.connection,
    "SELECT check_name, verdict, figure FROM run_checks ORDER BY check_name",
  );
  const warnings = rows.filter(({ verdict }) => verdict !== "passed");
  assert.ok(warnings.length > 3);
  assert.deepEqual(page.tile("Checks"), [
    `${warnings.length} warnings`,
    `${rows.length - warnings.length} of ${rows.length} passed`,
  ]);
  const [told] = page.attention.filter((each) => each.startsWith(`${warnings.length} checks warn:`));
  assert.match(
    told ?? "",
    /: destinations in mappings that have no name: 1, foreign key content\.assignee_id → users: 2, /,
  );
  assert.ok(told?.endsWith(` and ${warnings.length - 3} more.`));
});

test("what a pipeline tests is named before references", async () => {
  const names = ["foreign key content.new_id → content", "test: of mine", "values of x.y that are odd"];
  const rows = names.map((name) => `('${name}', 'warning', 1, 0, 'detail', NULL::VARCHAR)`);
  const columns = "check_name, verdict, figure, expected, detail, examples";
  const checks = `SELECT * FROM (VALUES ${rows.join(", ")}) AS checks(${columns})`;
  const { attention } = await pageOf({ tables: { run_checks: checks } });
  assert.match(attention[0] ?? "", /test: of mine.*values of x\.y.*content\.new_id → content/);
});

test("the title is the instance's name; where nobody knows it, the host of the service", async () => {
  const named = await plainPage();
  assert.deepEqual(named.heading, "Tarnbrook Outdoor");
  assert.match(named.html, /<title>Tarnbrook Outdoor, run 1: complete · content-warehouse<\/title>/);
  const url = replacing("'https://content.example.com/api' AS instance_url");
  const hosts = [
    [url, "content.example.com"],
    ["FROM {}", "The sample"],
  ] as const;
  for (const [run, heading] of few(hosts, 1)) {
    const tables = { run, instances: replacing("NULL::VARCHAR AS name") };
    assert.equal((await pageOf({ tables })).heading, heading);
  }
});

test("the verdict is green for a complete run alone, and never without its mapped values", async () => {
  const complete = await plainPage();
  assert.ok(complete.isGreen);
  assert.match(complete.verdict, /Complete Two passes over the listing agreed/);
  const unsettled = await pageOf({
    tables: { run: replacing("'unsettled' AS verdict, 'pass 2 <b>differs</b>' AS reason") },
  });
  assert.ok(!unsettled.isGreen);
  assert.match(
    unsettled.verdict,
    /Unsettled The answers of the service do not agree, .* meanwhile: pass 2 <b>differs<\/b>\.$/,
  );
  const check = "check_name = 'mapped values for the configured destinations'";
  const lacking = await pageOf({
    tables: {
      run_checks: replacing(
        `CASE WHEN ${check} THEN 'warning' ELSE verdict END AS verdict, CASE WHEN ${check} THEN 'There are none.' END AS detail`,
      ),
    },
  });
  assert.ok(!lacking.isGreen);
  assert.match(lacking.verdict, /Complete, without mapped values Two passes .* There are none\.$/);
});

test("values without a value mapping are not sent, or sent as is where the pipeline sends them", async () => {
  for (const [passthrough, short] of [
    [false, "not sent"],
    [true, "sent as is"],
  ] as const) {
    const page = await pageOf({ tables: { run: replacing(`${passthrough} AS passthrough`) } });
    assert.ok(!page.section("coverage").includes(passthrough ? "not sent" : "sent as is"));
    assert.ok(Object.hasOwn(page.records("Coverage, in values")[0] ?? {}, short));
    const sent = [...pageItems(page.html).values()].flatMap(({ payloads }) =>
      [...payloads.values()].flatMap((members) => members.map(({ name }) => name)),
    );
    assert.equal(sent.includes("cta_label"), passthrough);
  }
});

test("mapped values that are not sent all the same are counted", async () => {
  await using run = await opened(out);
  const nordic = "external_value = 'nordic'";
  const number = await scalar(run.connection, `SELECT count(*) FROM content_mapped_values WHERE ${nordic}`);
  const page = await pageOf({
    tables: {
      content_mapped_values: replacing(
        `CASE WHEN ${nordic} THEN NULL ELSE external_value END AS external_value`,
      ),
    },
  });
  assert.ok(
    page.attention.includes(
      `${number} mapped values are not sent: the entry has no external value, or the mapping names no field at the destination.`,
    ),
  );
});

test("requests: what was refused, and the rate that the run was held to", async () => {
  const calm = await plainPage();
  assert.match(
    calm.section("run"),
    /48 requests answered, .* 0 retries\. The service refused none: no throttling\./,
  );
  const held = await pageOf({
    tables: {
      run: replacing("12 AS requests_refused, 4.5::DOUBLE AS rate_per_second"),
      run_requests: replacing("CASE WHEN request = 2 THEN 3 ELSE attempts END AS attempts"),
    },
  });
  assert.match(
    held.section("run"),
    /2 retries\. The service refused 12 requests because there were too many; the run was held to about 4\.5 requests a second, and the next one starts with that\./,
  );
  const again = await pageOf({
    tables: { run: replacing("0 AS requests_refused, 4.5::DOUBLE AS rate_per_second") },
  });
  assert.match(
    again.section("run"),
    /refused none; the run was held to about 4\.5 requests a second, as the run before\./,
  );
});

const DRIFT = (lines: string) =>
  `SELECT *, NULL::BIGINT AS items FROM (VALUES ${lines}) AS drift(path, kind, count, example_content_id, example)`;

test("drift: what is new since the run before needs attention, and the policy's own counts stand apart", async () => {
  await using run = await opened(out);
  const { manifest, directory } = run;
  const before = { run: "000041-20261119T020000Z", sequence: 41, directory, manifest };
  const page = await pageOf({
    tables: {
      ...Object.fromEntries(Object.keys(manifest.rows).map((name) => [`before_${name}`, "FROM {}"])),
      run_drift:
        DRIFT(`('ai_<b>', 'unknown_field', 3, 'aa11', 'a summary'), ('old', 'unknown_field', 5, 'bb22', 'x'),
        ('rank', 'type', 2, 'cc33', '"7"'), ('owner.email', 'personal_dropped', 9, NULL, NULL)`),
      before_run_drift:
        DRIFT(`('old', 'unknown_field', 4, 'bb22', 'x'), ('gone', 'unknown_field', 6, 'dd44', 'only-before'),
        ('rank', 'type', 1, 'cc33', '"7"'), ('owner.email', 'personal_dropped', 8, NULL, NULL)`),
    },
    earlier: { previous: 41, before, listed: [] },
  });
  assert.ok(page.attention.includes("1 new field since run 41: ai_<b> (3 times)."));
  assert.ok(page.attention.includes("1 field without values since run 41: gone (had 6 values)."));
  const counting = await pageOf({
    tables: {
      run_drift: `SELECT * REPLACE (2 AS items) FROM (${DRIFT("('ai', 'unknown_field', 4, 'aa11', 'a summary')")})`,
    },
  });
  assert.ok(
    counting.attention.some((each) => each.endsWith("new field: ai (2 items).")),
    counting.attention.join("\n"),
  );
  assert.ok(page.attention.every((each) => !each.includes("rank") && !each.includes("owner.email")));
  assert.ok(!page.html.includes("only-before"), "nothing that is only in the run before");
  assert.match(
    page.section("drift"),
    /Compared with run 41\..*Values outside the contract: none Answers that contradict each other: none/,
  );
  assert.match(page.section("drift"), /1 field dropped \(9 values\)/);
});

test("drift: without a run before it says so, and does not say that nothing vanished", async () => {
  const first = await pageOf({
    tables: { run_drift: DRIFT("('ai', 'unknown_field', 3, 'aa11', 'a summary')") },
  });
  assert.ok(first.attention.includes("1 new field: ai (3 times)."));
  assert.match(
    first.section("drift"),
    /This is the first run.*Changed types: none Values outside the contract: none Answers that contradict each other: none/,
  );
  assert.doesNotMatch(first.section("drift"), /Vanished/);
  const unkept = await pageOf({ earlier: { previous: 7, before: undefined, listed: [] } });
  assert.match(
    unkept.section("drift"),
    /Run 7, the one before, is no longer kept, cannot be read or has no mapped values/,
  );
});
