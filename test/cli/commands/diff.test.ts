/** What changed between two nights of one service, as `diff` and the report of the second night say it. */
import assert from "node:assert/strict";
import { chmod, cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { DuckDBValue } from "@duckdb/node-api";
import { openRun } from "../../../src/audit/open-run.ts";
import { diffCommand } from "../../../src/cli/commands/diff.ts";
import { explainCommand } from "../../../src/cli/commands/explain.ts";
import { reportCommand } from "../../../src/cli/commands/report.ts";
import { runsCommand } from "../../../src/cli/commands/runs.ts";
import { sqlCommand } from "../../../src/cli/commands/sql.ts";
import { all } from "../../../src/storage/duckdb.ts";
import { outputFolder } from "../../../src/warehouse/layout.ts";
import { parsePage, tableRecords } from "../../audit/report/dom.ts";
import { pageItems } from "../../audit/report/page-data.ts";
import { fewSampleNights, sampleNights, site } from "../../audit/two-nights.ts";
import { temporaryFolder } from "../../load/fixtures.ts";
import { either, few, long } from "../../long.ts";
import { publish } from "../../warehouse/published.ts";
import { capture, outcome } from "../capture.ts";
import { program } from "../running.ts";

/** The sample, the sample with changes, and, from the history of the first alone, the sample again. */
const { out, folder, night } = await site({ personalData: "keep" });
const [sample, changed] = await either(fewSampleNights, sampleNights)(folder);
const first = await night(sample);
const alone = await outcome(diffCommand, ["--warehouse", out]);
const second = await night(changed);
await capture(runsCommand, ["rollback", "1", "--warehouse", out]);
const third = await night(sample);

const diff = (...args: string[]) => capture(diffCommand, [...args, "--warehouse", out]);
const failed = async (...args: string[]) => {
  const { text, error } = await outcome(diffCommand, [...args, "--warehouse", out]);
  assert.equal(text, "");
  return [error?.code, error?.message ?? ""] as const;
};

const ITEM = "6967a4fa9df0deca3500013d";

test("the warehouse is the one that is named for all commands", async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, "content-warehouse.config.json"), JSON.stringify({ warehouse: out }));
  for (const setting of few([{ cwd }, { env: { CONTENT_WAREHOUSE_DIR: out } }], 1)) {
    const { stdout } = await program(["diff", "1", "2", "--values"], setting);
    assert.ok(stdout.startsWith(`From run ${first} to run ${second}, `), stdout);
  }
});

long("filters narrow every part of the answer, and the items can be listed", async () => {
  const asked = ["1", "2", "--cause", "mapping_changed", "--destination", "Web CMS", "--field", "region"];
  const json = JSON.parse(await diff(...asked, "--items", "--format", "json"));
  assert.deepEqual([json.items_with_changed_values, json.values_changed, json.items.length], [70, 70, 70]);
  assert.deepEqual([json.payloads_changed, json.items_with_changed_payload], [70, 70]);
  const [definition, ...others] = json.definitions;
  assert.deepEqual(
    [definition.kind, definition.what, definition.before, definition.after, others],
    ["mapping entry", "external value", '"en-gb"', '"en-uk-ie"', []],
  );
  assert.deepEqual([json.from.run, json.to.run, json.history_of], [first, second, second]);
  assert.equal(json.lines.length, 1);
  assert.equal(json.lines[0].cause, 'the external value "en-gb" for "UK & Ireland" became "en-uk-ie"');
  const csv = async (...args: string[]) => (await diff(...asked, "--format", "csv", ...args)).split("\n");
  assert.deepEqual([(await csv()).length, (await csv("--items")).length], [3, 72]);
  assert.match(
    await diff(...asked, "--field", "season"),
    / No mapped value\s+that matches the filters changed\.\n/,
  );
});

test("two runs that no history knows both are compared row by row, as their tables are, and no cause is guessed", async () => {
  const [code, message] = await failed("2", "current", "--values");
  assert.equal(code, "answer.nothing");
  const command = "diff 2 3 --content --table content_mapped_values";
  assert.equal(
    message,
    `No history knows both ${second} and ${third}; "${command}" compares their mapped values row by row, if both are kept.`,
  );
  const [, ...asked] = command.split(" ");
  const { changes } = JSON.parse(await diff(...asked, "--format", "json"));
  const sent = changes.filter(
    ({ column, before, after }: Record<string, string>) =>
      column === "external_value" && before === "en-uk-ie" && after === "en-gb",
  );
  assert.equal(sent.length, either(11, 70));
  assert.ok(
    sent.every(
      ({ row, change }: Record<string, string>) => row === "Web CMS, region" && change === "changed",
    ),
  );
});

test("the runs are the one before and the current one unless they are named", async () => {
  const text = await diff("--values");
  assert.equal(
    text.replaceAll("\n", " "),
    `From run ${first} to run ${third}, by the history of run ${third}. No mapped value changed. `,
  );
});

test("after the first run there is nothing to compare it with, and it is said so", () => {
  assert.equal(alone.error?.code, "answer.nothing");
  assert.equal(
    alone.error?.message,
    `A comparison needs two runs, and ${out} has only one; "content-warehouse run nightly" makes another.`,
  );
});

long(
  "a run that is there and cannot be read is told as that, and not as one that nothing knows",
  async () => {
    const manifest = join(out, "runs", third, "manifest.json");
    const written = await readFile(manifest, "utf8");
    await chmod(manifest, 0o644);
    const asked = [[], ["1", "current"], ["previous", "1"], ["1", third], ["1", "3"]];
    for (const [text, why] of [
      [JSON.stringify({ ...JSON.parse(written), manifestVersion: 99 }), /was written by a newer version/],
      ["{", /cannot be read \(it is not JSON\)/],
    ] as const) {
      await writeFile(manifest, text);
      for (const runs of asked) assert.match((await failed(...runs))[1], why, runs.join(" "));
      assert.match(await diff("1", "2"), new RegExp(`by the history of run\\s+${second}\\.`));
    }
    await writeFile(manifest, written);
    assert.match(await diff(), /No mapped value\s+changed\./);
  },
);

test("H22, H23: both heads are shown, each with its total and first rows: removed items first, one line an item", async () => {
  const edited = "6967a4fa9df0deca3500013d";
  const text = await diff("1", "2");
  const parts = text.split("\n\n");
  const sentences = parts.map((part) => part.replaceAll("\n", " "));
  assert.match(
    sentences[0] ?? "",
    /^From run .* Mapped values of \d+ items changed; \d+ of these items are sent differently\. .*Largest change \(\d+ items, region "UK & Ireland"\): the external value "en-gb" for "UK & Ireland" became "en-uk-ie"\. "Print Archive" now receives values: \d+ items\.$/,
  );
  assert.match(
    sentences[3] ?? "",
    /^Content of run .* 0 items added, 1 removed, 4 changed \(4 of them with a new `updated_at`\)\.$/,
  );
  assert.deepEqual(
    parts.map((part) => part.split("\n")[0]),
    [
      parts[0]?.split("\n")[0],
      "Changes of definitions",
      "What changed in the mapped values",
      parts[3]?.split("\n")[0],
      "Items whose content changed",
      "Use --content or --values for all changes of one kind, --item for one item.",
    ],
  );
  const items = (parts[4] ?? "").split("\n").slice(4, -1);
  assert.equal(items.length, 5);
  assert.match(items[0] ?? "", /^│ Walking from hut to hut for the first time +│ removed │ +│$/);
  assert.match(parts[4] ?? "", /│ Picos de Europa .* │ changed │ custom field region +│/);
  assert.match(parts[1] ?? "", /│ mapping entry "Care & Repair": added +│ Web CMS +│ product_line +│/);
  const ofItem = await diff("1", "2", "--item", edited);
  assert.match(ofItem, /│ content_custom_field_values region: value +│ Southern Europe +│ Nordics +│/);
  assert.match(
    ofItem,
    /\nWeb CMS\n[\s\S]*│ Picos de Europa .* │ region .*│ "es-it" +│ "nordic" +│ the item was edited +│/,
  );
  // A fact stands once in CSV: not as words beside its columns.
  const [heads = ""] = (await diff("1", "2", "--format", "csv")).split("\n");
  for (const words of ["cause", "value", "before", "after"])
    assert.ok(!heads.split(",").includes(words), heads);
  const reordered = await capture(explainCommand, [
    "6995c4bd9df0deca35000153",
    "--run",
    "2",
    "--warehouse",
    out,
  ]);
  assert.match(reordered, /: the history begins; order changed \S+ \S+ UTC +│/);
});

test("H21: totals count destinations that receive values in both runs; one that begins to receive is a sentence", async () => {
  const json = JSON.parse(await diff("1", "2", "--values", "--format", "json"));
  const expected = await capture(sqlCommand, [
    `SELECT count(DISTINCT content_id) FILTER (identification IS DISTINCT FROM 'Print Archive') AS items,
       count(*) FILTER (identification IS DISTINCT FROM 'Print Archive') AS "values",
       (SELECT count(*) FROM content_external_payloads JOIN destinations USING (destination_id)
        WHERE identification = 'Print Archive') AS received
     FROM mapped_value_changes(1, 2) JOIN destinations USING (destination_id) WHERE receives`,
    ...["--run", "2", "--format", "csv", "--warehouse", out],
  ]);
  const [items, values, received] = expected.split("\n")[1]?.split(",").map(Number) ?? [];
  assert.deepEqual([json.items_with_changed_values, json.values_changed], [items, values]);
  assert.ok(Number(items) > 0 && Number(received) > 0, expected);
  assert.ok(json.lead.includes(` "Print Archive" now receives values: ${received} items.`), json.lead);
  const changed = json.lines.reduce((sum: number, each: { values: number }) => sum + each.values, 0);
  assert.equal(changed, values);
  assert.ok(json.lines.every(({ reception }: Record<string, string>) => reception === "receiving"));
});

const page = await pageAt(join("runs", second));

function pageAt(path: string) {
  return pageIn(join(out, path, "report.html"));
}

async function pageIn(file: string) {
  const html = await readFile(file, "utf8");
  const root = parsePage(html);
  const lines = root.all("#overview p").map(({ textContent }) => textContent.replaceAll(/\s+/g, " ").trim());
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
    page.lines.find((line) => line.includes("with changed values")),
    `${figure(items)} items with changed values, ${figure(payloads)} payloads of ${figure(payload_items)} items sent differently`,
  );
  assert.ok(
    page.section.includes(`Mapped values of ${figure(items)} items changed; `),
    page.section.slice(0, 400),
  );
});

test("item by item the changes are those of the payloads that differ", async () => {
  const { items }: { items: Record<string, string>[] } = JSON.parse(
    await diff("1", "2", "--items", "--format", "json"),
  );
  const rows = items.filter(({ change }) => change !== "alike");
  const differing = await rowsOf(`
    SELECT DISTINCT content_id, identification AS destination FROM (${PAYLOADS}) JOIN destinations USING (destination_id)`);
  const pairs = (some: readonly Readonly<Record<string, unknown>>[]) =>
    [...new Set(some.map(({ content_id, destination }) => `${content_id} | ${destination}`))].sort();
  assert.deepEqual(pairs(rows), pairs(differing));
  // What a mapping made of a value that the item had before.
  const mapped = await rowsOf(`
    SELECT content_id, fields.name AS custom_field, earlier.external_value AS before, later.external_value AS after
    FROM content_mapped_values AS later
    JOIN before_content_mapped_values AS earlier USING (content_id, destination_id, custom_field_id, value_id)
    JOIN custom_fields AS fields USING (custom_field_id)
    WHERE later.external_value IS DISTINCT FROM earlier.external_value AND later.status = 'mapped'`);
  const shown = rows.filter(
    ({ cause = "", before = "" }) =>
      /^the (?:external value|entry|mapping)/.test(cause) && !before.startsWith("as "),
  );
  const text = (value: unknown) => (value === null ? "nothing" : JSON.stringify(value));
  const isRename = ({ before = "" }: Readonly<Record<string, string>>) => before.includes(" as ");
  assert.deepEqual(
    shown
      .filter((row) => !isRename(row))
      .map(({ content_id, custom_field, before = "", after = "" }) =>
        [content_id, custom_field, before, after].join(" | ").replaceAll(/ \[[^|]*\]/g, ""),
      )
      .sort(),
    mapped
      .map((row) => [row.content_id, row.custom_field, text(row.before), text(row.after)].join(" | "))
      .sort(),
  );
  const causes = rows.map(({ cause }) => cause);
  assert.ok(new Set(causes).size > 2);
});

test("each value says since when what is sent of it is so, whatever its flags did", async () => {
  const sent = `content_id, destination_id, custom_field_id, coalesce(value_id, value) AS input, status,
    external_field_name, external_value`;
  const unlike = await rowsOf(`
    SELECT content_id, count(*)::INT AS number
    FROM (SELECT ${sent} FROM content_mapped_values EXCEPT SELECT ${sent} FROM before_content_mapped_values)
    GROUP BY content_id`);
  const since = [...page.items].flatMap(([id, { since, values }]) => {
    assert.equal(since.length, values.length);
    const number = since.filter((sequence) => sequence === 2).length;
    return number === 0 ? [] : [`${id} ${number}`];
  });
  assert.deepEqual(since.sort(), unlike.map(({ content_id, number }) => `${content_id} ${number}`).sort());
});

test("of the content it has no text that only the run before has, and nothing personal, though the tables keep it", async () => {
  const users = await rowsOf("SELECT email, phone, bio FROM users");
  const personal = users.flatMap((user) => Object.values(user)).filter(Boolean);
  const gone = await rowsOf("SELECT title FROM before_content ANTI JOIN content USING (content_id)");
  const html = await readFile(join(out, "runs", second, "report.html"), "utf8");
  assert.ok(gone.length > 0);
  assert.ok(personal.length > 20, String(personal.length));
  for (const text of [...gone.map(({ title }) => title), ...personal])
    assert.ok(!html.includes(String(text)), String(text));
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
  assert.match(section, / What changed in the mapped values /);
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

test("a run whose files are gone is compared by the history, and not explained", async () => {
  await capture(runsCommand, ["prune", "--keep", "1", "--warehouse", out]);
  const text = await diff("1", "3");
  assert.match(text, /^From run [\s\S]*\sNo\s+mapped value\s+changed\.\n\nThere is no run "\S+" in /);
  const { error } = await outcome(explainCommand, [ITEM, "--run", "1", "--warehouse", out]);
  assert.deepEqual([error?.code, error?.exitCode], ["answer.nothing", 3]);
  assert.match(error?.message ?? "", /^There is no run "1" in /);
  const macro = `SELECT DISTINCT external_value FROM mapped_values_as_of((SELECT started_at FROM run_history WHERE run = '${first}'))
    JOIN custom_fields USING (custom_field_id) WHERE content_id = '${ITEM}' AND external_value = 'es-it'`;
  assert.match(await capture(sqlCommand, [macro, "--format", "csv", "--warehouse", out]), /\nes-it\n$/);
});

test("without a history that names the run before, diff asks for two runs", async (t) => {
  const out = await temporaryFolder(t);
  await publish(out, 1);
  await publish(out, 2);
  const { error } = await outcome(diffCommand, ["--warehouse", out]);
  assert.equal(error?.code, "answer.nothing");
  assert.match(
    error?.message ?? "",
    /is the first of its history, or has none, so .*; name two runs from "content-warehouse runs list"\.$/,
  );
});
