/** What the pictures of a second night say, as texts and titles, held against the tables of both nights. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openRun } from "../../../src/audit/open-run.ts";
import { cut } from "../../../src/show/page/page.ts";
import { all } from "../../../src/storage/duckdb.ts";
import { outputFolder } from "../../../src/warehouse/layout.ts";
import { readManifest } from "../../../src/warehouse/manifest.ts";
import { parsePage, tableRecords } from "./dom.ts";
import { twoNights } from "./warehouse.ts";

const { out } = await twoNights();
const root = parsePage(await readFile(join(out, "current", "report.html"), "utf8"));
const textsOf = (selector: string) =>
  root.all(selector).map(({ textContent }) => textContent.replaceAll(/\s+/g, " ").trim());

async function runBefore(): Promise<string> {
  const { previousRun } = await readManifest(join(out, "current"));
  return previousRun ?? assert.fail();
}

async function rowsOf(sql: string) {
  await using run = await openRun({
    folder: outputFolder(out),
    wanted: "current",
    beside: await runBefore(),
    temporaryDirectory: join(out, "..", "spilled"),
  });
  return await all(run.connection, sql);
}

const figure = (value: unknown) => Number(value).toLocaleString("en-US");

test("the bars of destinations and fields have the counts of the mapped values, as texts and as titles", async () => {
  const expected = await rowsOf(`
    WITH counted AS (
      SELECT identification AS destination, destination_id, f.name AS field, count_if(status = 'mapped') AS mapped,
        count_if(status IN ('unmapped', 'unknown_value')) AS missing, count_if(status = 'no_value_mapping') AS unsent
      FROM content_mapped_values JOIN destinations USING (destination_id) LEFT JOIN custom_fields f USING (custom_field_id)
      WHERE destinations.receives GROUP BY GROUPING SETS ((1, 2, 3), (1, 2))
    )
    SELECT coalesce(field, destination, destination_id) AS name, mapped, missing, unsent FROM counted`);
  const rows = tableRecords(root, "Values by destination and field");
  const cells = rows.map((row) => [row.field, row.mapped, row.missing, row["not sent"]].join(" | "));
  const known = expected.map(({ name, ...counts }) =>
    [cut(String(name)), ...Object.values(counts).map(figure)].join(" | "),
  );
  const shown = cells.filter((row) => !/^\d+ more fields? /.test(row));
  assert.ok(shown.length > 10);
  for (const row of shown) assert.ok(known.includes(row), `${row}\n${known.join("\n")}`);
  assert.deepEqual(
    rows.map(({ values }) => values),
    rows.map((row) => `${row.mapped} mapped, ${row.missing} missing, ${row["not sent"]} not sent`),
  );
});

test("the lines over the runs begin and end with the counts of either night", async () => {
  const [counts] = await rowsOf(`
    SELECT (${missing("before_")}) AS before, (${missing("")}) AS now`);
  const [first] = textsOf("#runs figcaption");
  assert.equal(first, `Missing values ${figure(counts?.before)} in run 1, ${figure(counts?.now)} now`);
  const [title] = textsOf("#runs figure title");
  assert.equal(title, `Missing values: run 1: ${figure(counts?.before)}, run 2: ${figure(counts?.now)}`);
  const receivers = await rowsOf("SELECT destination_id FROM destinations WHERE receives");
  assert.equal(textsOf("#runs figure").length, 1 + receivers.length);
});

const missing = (prefix: string) =>
  `SELECT count(*) FROM ${prefix}content_mapped_values SEMI JOIN (FROM ${prefix}destinations WHERE receives) USING (destination_id)
   WHERE status IN ('unmapped', 'unknown_value')`;

test("a change that took external values away comes before one that touches more items", async () => {
  const lines = textsOf(".changes li");
  const items = lines.map((line) => Number(/ ([\d,]+) items?/.exec(line)?.[1]?.replace(",", "")));
  assert.match(lines[0] ?? "", / items? lost it, \S/);
  assert.ok(Math.max(...items) > (items[0] ?? 0), lines.join("\n"));
});

test("the bars of causes and of values that items miss have the numbers of their tables", async () => {
  const causes = tableRecords(root, "Items by cause");
  assert.ok(causes.length > 1);
  for (const { share, items } of causes) assert.equal(share, `${items} items`);
  const [most] = await rowsOf(`
    SELECT count(DISTINCT content_id) AS items FROM content_mapped_values SEMI JOIN (FROM destinations WHERE receives) USING (destination_id)
    WHERE status IN ('unmapped', 'unknown_value') GROUP BY destination_id, custom_field_id, value_id, value ORDER BY items DESC LIMIT 1`);
  const values = tableRecords(root, "Values that most items miss");
  assert.deepEqual(
    [values[0]?.items, values[0]?.share],
    [figure(most?.items), `${figure(most?.items)} items`],
  );
});
