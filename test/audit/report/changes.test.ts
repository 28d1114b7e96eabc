/** What a page says of changes, against the tables of the two runs. */
import assert from "node:assert/strict";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { DuckDBValue } from "@duckdb/node-api";
import { openRun } from "../../../src/audit/open-run.ts";
import { reportCommand } from "../../../src/cli/commands/report.ts";
import { all } from "../../../src/storage/duckdb.ts";
import { outputFolder } from "../../../src/warehouse/layout.ts";
import { capture } from "../../cli/capture.ts";
import { either } from "../../long.ts";
import { fewSampleNights, sampleNights, site } from "../two-nights.ts";
import { parsePage, tableRecords } from "./dom.ts";
import { pageItems } from "./page-data.ts";

const { out, folder, night } = await site({ personalData: "keep" });
const [sample, changed] = await either(fewSampleNights, sampleNights)(folder);
const first = await night(sample);
const second = await night(changed);
const page = await pageAt(join("runs", second));

function pageAt(path: string) {
  return pageIn(join(out, path, "report.html"));
}

async function pageIn(file: string) {
  const html = await readFile(file, "utf8");
  const root = parsePage(html);
  const lines = root.all(".lines li").map(({ textContent }) => textContent.replaceAll(/\s+/g, " ").trim());
  return {
    root,
    items: pageItems(html),
    lines,
    section: (root.first("#changes")?.textContent ?? "").replaceAll(/\s+/g, " ").trim(),
  };
}

/** Rows of a query over the tables of the second run, and `before_` those of the first. */
async function rowsOf(sql: string): Promise<Record<string, DuckDBValue>[]> {
  await using run = await openRun({
    folder: outputFolder(out),
    wanted: second,
    beside: first,
    temporaryDirectory: join(folder, "spilled"),
  });
  return await all(run.connection, sql);
}

const figure = (value: unknown) => Number(value).toLocaleString("en-US");

/** Values as they stand in either run, at some destinations; they differ where one side alone has the row. */
const ledgers = (destinations: string) => `
  WITH counted AS (${destinations}),
  later AS (
    SELECT * EXCLUDE (ordinal), count(*) AS copies FROM content_mapped_values SEMI JOIN counted USING (destination_id) GROUP BY ALL
  ),
  earlier AS (
    SELECT * EXCLUDE (ordinal), count(*) AS copies FROM before_content_mapped_values SEMI JOIN counted USING (destination_id) GROUP BY ALL
  )`;

const RECEIVING = `
  SELECT destination_id FROM destinations AS later JOIN before_destinations AS earlier USING (destination_id)
  WHERE later.receives AND earlier.receives`;

const PAYLOADS = `
  SELECT content_id, destination_id
  FROM content_external_payloads AS later
  FULL JOIN before_content_external_payloads AS earlier USING (content_id, destination_id)
  WHERE later.payload::VARCHAR IS DISTINCT FROM earlier.payload::VARCHAR`;

test("the first screen and the leading sentence count the items and payloads that differ in the tables of both runs", async () => {
  const [counts] = await rowsOf(`${ledgers(RECEIVING)}
    SELECT
      (SELECT count(DISTINCT content_id) FROM (
        SELECT content_id FROM (FROM later EXCEPT FROM earlier)
        UNION SELECT content_id FROM (FROM earlier EXCEPT FROM later)
        UNION SELECT content_id FROM (${PAYLOADS}) SEMI JOIN counted USING (destination_id)
      )) AS items,
      count(*) AS payloads, count(DISTINCT content_id) AS payload_items
    FROM (${PAYLOADS}) SEMI JOIN counted USING (destination_id)`);
  const { items, payloads, payload_items } = counts ?? {};
  const others = Number(items) - Number(payload_items);
  assert.ok(others > 0 && Number(payload_items) > 0);
  assert.equal(
    page.lines.find((line) => line.includes("mapped values changed")),
    `${figure(items)} items whose mapped values changed payloads that differ: ${figure(payloads)}, of ${figure(payload_items)} items`,
  );
  assert.ok(
    page.section.includes(` ${figure(items)} items whose mapped values changed, `),
    page.section.slice(0, 400),
  );
});

test("item by item: the changes are those of the payloads that differ, and what is sent the same is folded", async () => {
  const rows = tableRecords(page.root, "Item by item");
  const differing = await rowsOf(`
    SELECT DISTINCT content_id, identification AS destination FROM (${PAYLOADS}) JOIN destinations USING (destination_id)`);
  const pairs = (some: readonly Readonly<Record<string, unknown>>[]) =>
    [
      ...new Set(some.map(({ content_id, item, destination }) => `${content_id ?? item} | ${destination}`)),
    ].sort();
  assert.deepEqual(pairs(rows), pairs(differing));
  // What a mapping made of a value that the item had before.
  const mapped = await rowsOf(`
    SELECT content_id AS item, fields.name AS field, earlier.external_value AS before, later.external_value AS after
    FROM content_mapped_values AS later
    JOIN before_content_mapped_values AS earlier USING (content_id, destination_id, custom_field_id, value_id)
    JOIN custom_fields AS fields USING (custom_field_id)
    WHERE later.external_value IS DISTINCT FROM earlier.external_value AND later.status = 'mapped'`);
  const shown = rows.filter(
    ({ cause, before = "" }) => cause === "mapping_changed" && !before.startsWith("as "),
  );
  const text = (value: unknown) => (value === null ? "nothing" : JSON.stringify(value));
  const isRename = ({ before = "" }: Readonly<Record<string, string>>) => before.includes(" as ");
  assert.deepEqual(
    shown
      .filter((row) => !isRename(row))
      .map(({ item, field, before = "", after = "" }) =>
        [item, field, before, after].join(" | ").replaceAll(/ \[[^|]*\]/g, ""),
      )
      .sort(),
    mapped
      .map(({ item, field, before, after }) => [item, field, text(before), text(after)].join(" | "))
      .sort(),
  );
  const causes = rows.map(({ cause }) => cause);
  assert.ok(new Set(causes).size > 2);
  assert.deepEqual(
    causes.filter((cause, place) => cause !== causes[place - 1]).length,
    new Set(causes).size,
    "cause by cause",
  );
  const folded = page.root.first("details#changes-alike");
  assert.match(folded?.first("summary")?.textContent ?? "", /^No payload change \d+ rows$/);
  assert.match(folded?.first(".lead")?.textContent ?? "", /^\d+ mapped values: /);
  assert.equal(folded?.get("open"), null);
});

test("each value says since when it is so", async () => {
  const unlike = await rowsOf(`${ledgers("SELECT destination_id FROM destinations")}
    SELECT content_id, count(*)::INT AS number FROM (FROM later EXCEPT FROM earlier) GROUP BY content_id`);
  const since = [...page.items].flatMap(([id, { since, values }]) => {
    assert.equal(since.length, values.length);
    const number = since.filter((sequence) => sequence === 2).length;
    return number === 0 ? [] : [`${id} ${number}`];
  });
  assert.deepEqual(since.sort(), unlike.map(({ content_id, number }) => `${content_id} ${number}`).sort());
});

test("of the content it has no text that only the run before has", async () => {
  const gone = await rowsOf("SELECT title FROM before_content ANTI JOIN content USING (content_id)");
  const html = await readFile(join(out, "runs", second, "report.html"), "utf8");
  assert.ok(gone.length > 0);
  for (const { title } of gone) assert.ok(!html.includes(String(title)), String(title));
  const items = tableRecords(page.root, "Items whose content changed");
  assert.deepEqual(
    items.map(({ title, change }) => title === "" && change),
    items.map(({ change }) => change === "removed" && change),
  );
});

test("where the run before is no longer kept, one sentence says that its content cannot be compared", async () => {
  const kept = join(folder, "kept");
  await cp(out, kept, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.includes(first) });
  const file = join(folder, "kept.html");
  await capture(
    (given) => reportCommand({ ...given, err: given.out }),
    [second, "--warehouse", kept, "--out", file],
  );
  const { section } = await pageIn(file);
  assert.match(
    section,
    / Changes of content: Run 1, the one before, is no longer kept, cannot be read or has no mapped values, so nothing is compared with it\.$/,
  );
  assert.match(section, / Item by item /);
});

test("after the first run the section says so in one sentence, and the first screen has no line", async () => {
  const { lines, section, items } = await pageAt(join("runs", first));
  assert.ok(lines.every((line) => !line.includes("changed")));
  assert.equal(
    section,
    "Changes The history begins with this run; from the next run on, this section shows what changed and why.",
  );
  assert.ok([...items.values()].every(({ since }) => since.every((sequence) => sequence === 1)));
});
