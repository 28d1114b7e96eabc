/** Nights in which an entry has no external value and a mapping no external name, by every answer that counts values. */
import assert from "node:assert/strict";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { mappingCoverage } from "../../src/audit/stages.ts";
import { auditCommand } from "../../src/cli/commands/audit.ts";
import { explainCommand } from "../../src/cli/commands/explain.ts";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { removeTree } from "../../src/common/tree.ts";
import { definePipeline } from "../../src/define-pipeline.ts";
import { duckdb } from "../../src/load/stages.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import type { Pipeline } from "../../src/pipeline.ts";
import { parsePage, tableRecords } from "../audit/report/dom.ts";
import { capture, outcome } from "../cli/capture.ts";
import { failsWith } from "../failing.ts";
import { stages } from "./mapping-pipeline.ts";
import { exportFrom, HISTORY, rowsOf } from "./running.ts";
import { type Item, itemsOf, type Json, Scripted } from "./scripted.ts";
import { summaryText } from "./summary-text.ts";

const FIELDS = [
  { id: "f1", name: "color", field_type: "select" },
  { id: "f2", name: "size", field_type: "select" },
  { id: "f3", name: "note", field_type: "text" },
] as const;
const OFFERED = ["red", "blue", "green", "large"].map((id) => ({ id, value: id, display: id }));
/** Of each item; `green` has no entry, and `mauve` is no value of the field. */
const COLORS = ["red", "red", "red", "red", "red", "blue", "blue", "blue", "blue", "green", "green", "mauve"];

/** On lacking nights, the entry of `red` has no external value and the mapping of `size` no external name. */
function definitions(isLacking: boolean): Json[] {
  const entries = {
    f1: [
      { value_id: "red", value: isLacking ? null : "rouge" },
      { value_id: "blue", value: "bleu" },
    ],
    f2: [{ value_id: "large", value: "L" }],
    f3: [],
  };
  return FIELDS.map((field) => ({
    ...field,
    formatted_select_values: OFFERED,
    mappings: ["d-shop", "d-print"].map((site) => ({
      id: `m-${field.id}-${site}`,
      external_site_id: site,
      field_name: isLacking && field.id === "f2" ? null : `their ${field.name}`,
      values: entries[field.id].map((entry) => ({ id: `e-${field.id}-${site}-${entry.value_id}`, ...entry })),
    })),
  }));
}

const SHOP = { name: "Shop", platform: "External" };
const PRINT = { name: "Print", platform: "Archive" };
const DESTINATIONS = [
  { id: "d-shop", identification: "Shop", platform: "External", supports_custom_field_mappings: true },
  { id: "d-print", identification: "Print", platform: "Archive", supports_custom_field_mappings: false },
];

const folder = await mkdtemp(join(tmpdir(), "empty-"));
const out = join(folder, "warehouse");
const service = new Scripted(itemsOf(COLORS.length));
await service.listen();
after(async () => {
  service.close();
  await removeTree(folder);
});
service.arrange = (items, { mode }) =>
  items.map((each, place) => ({
    ...(each as Item),
    ...(mode === "dynamic" ? { custom_fields: { f1: COLORS[place], f2: "large", f3: "a note" } } : {}),
    ...(mode === "full" ? { custom_fields: FIELDS } : {}),
  }));

async function exported(isLacking: boolean, pipelineUrl: string | Pipeline = HISTORY): Promise<RunSummary> {
  service.script = ({ kind }) => {
    if (kind === "destinations") return { body: DESTINATIONS };
    return kind === "custom_fields" ? { body: definitions(isLacking) } : undefined;
  };
  const config = { destinations: [SHOP, PRINT], acceptPipeline: true };
  return await exportFrom({ url: service.url, out, pipelineUrl, config });
}

const first = await exported(false);
const loss = await exported(true);
const quiet = await exported(true);

/** Values at a destination: those in payloads, all others by why they are not, and all. */
const COUNTS = `
  SELECT sent::INT, count_if(status = 'unmapped')::INT, count_if(status = 'unknown_value')::INT,
    (count_if(status = 'mapped') - sent)::INT, count_if(status = 'no_value_mapping')::INT, count(*)::INT
  FROM content_mapped_values
  JOIN (
    SELECT destination_id, sum(list_sum(json_array_length(payload, '$.*'))) AS sent
    FROM content_external_payloads GROUP BY destination_id
  ) USING (destination_id)
  GROUP BY destination_id, sent ORDER BY destination_id DESC`;

const WHOLE_NIGHT = [21, 2, 1, 0, 12, 36];
const LACKING_NIGHT = [4, 2, 1, 17, 12, 36];

test("what a mapping has no external value or name for is missing in the night of its loss and afterwards", async () => {
  for (const [night, counts] of [
    [first, WHOLE_NIGHT],
    [loss, LACKING_NIGHT],
    [quiet, LACKING_NIGHT],
  ] as const)
    assert.deepEqual(await rowsOf(night.directory, COUNTS), [counts, counts], "at the shop, and in print");
  assert.match(summaryText(first), /Mapped +21 values\n +Missing +3 values \(2 unmapped, 1 unknown\)\n/);
  assert.match(summaryText(loss), /Mapped +4 values: 17 lost, 0 gained; /);
  assert.match(summaryText(loss), /Missing +20 values \(2 unmapped, 1 unknown, 17 empty\); 3 before\n/);
  assert.match(summaryText(quiet), /Mapped +4 values: 0 lost, 0 gained; /);
  assert.match(summaryText(quiet), /Missing +20 values \(2 unmapped, 1 unknown, 17 empty\); 20 before\n/);
});

const audit = (...args: string[]) => capture(auditCommand, [...args, "--warehouse", out]);

test("the parts of the audit add up, and name empty values only where there are some", async () => {
  const text = await audit("2");
  const parts =
    "4 mapped, 20 missing (2 unmapped, 1 unknown, 17 empty), 12 of fields without value mappings.";
  assert.ok(text.includes(`: ${parts}`), text);
  assert.match(text, /│ field +│ values │ mapped │ unmapped │ unknown │ empty │/);
  assert.match(text, /│ Shop +│ +4 │ +20 │ +2 │ +1 │ +17 │/);
  assert.match(text, /\nValues that are unmapped, unknown, empty, archived or ambiguous\n/);
  assert.match(text, /│ size +│ large +│ empty +│ +12 │ +L +│/);
  assert.doesNotMatch(await audit("1"), /empty/);
  assert.match(await audit("2", "--format", "csv", "--section", "coverage"), /,unknown_value,empty,/);
});

test("the audit as JSON has the same numbers by field, destination and value, and by status as the table has it", async () => {
  const { receiving, coverage, destinations, values } = JSON.parse(await audit("3", "--format", "json"));
  const figures = ({ mapped, empty, without_external_value: missing }: Json) => [mapped, empty, missing];
  assert.deepEqual(figures(receiving), [4, 17, 20]);
  assert.deepEqual(destinations.map(figures), [
    [4, 17, 20],
    [4, 17, 20],
  ]);
  const atShop = (rows: readonly Json[]) => rows.filter(({ destination }) => destination === "Shop");
  assert.deepEqual(
    atShop(coverage).map((row) => [row.custom_field, row.mapped, row.empty]),
    [
      ["color", 4, 5],
      ["note", 0, 0],
      ["size", 0, 12],
    ],
  );
  assert.deepEqual(
    atShop(values).map(({ value, status, kind, uses }) => [value, status, kind, uses]),
    [
      ["large", "mapped", "empty", 12],
      ["red", "mapped", "empty", 5],
      ["green", "unmapped", "unmapped", 2],
      ["mauve", "unknown_value", "unknown_value", 1],
    ],
  );
  const { receiving: ofStatus } = JSON.parse(await audit("3", "--status", "mapped", "--format", "json"));
  assert.deepEqual(figures(ofStatus), [4, 17, 17]);
});

test("gates count empty values, alone and against the run before", async () => {
  for (const [run, limit, exitCode] of [
    ["1", "empty", 0],
    ["2", "empty=17,unmapped=+0", 0],
    ["2", "empty=16", 25],
    ["2", "empty=+16", 25],
    ["2", "empty=+17", 0],
    ["3", "empty", 25],
    ["3", "empty=+0", 0],
  ] as const) {
    const ended = await outcome(auditCommand, [run, "--fail-on", limit, "--warehouse", out]);
    assert.equal(ended.exitCode, exitCode, `${run} ${limit}`);
  }
  const pipeline = definePipeline({
    ...stages,
    name: "limited",
    load: [duckdb()],
    audit: [mappingCoverage({ failOn: { empty: 16 } })],
  });
  const { message } = await failsWith("audit.threshold", exported(true, pipeline));
  assert.match(message, /"mapping coverage, empty values" found 17 failing rows, limit: 16/);
});

test("the runs, of which the list and each alone tell, have the numbers of all destinations and of the receivers", async () => {
  const json = async (...args: string[]) =>
    JSON.parse(await capture(runsCommand, [...args, "--warehouse", out, "--format", "json"]));
  const { runs } = await json("list");
  assert.deepEqual(
    runs.map((row: Json) => [row.empty, row.without_external_value, row.without_external_value_receiving]),
    [
      [34, 40, 20],
      [34, 40, 20],
      [0, 6, 3],
    ],
  );
  const { mappedValues } = await json("show", "3");
  assert.deepEqual([mappedValues.mapped, mappedValues.empty, mappedValues.withoutExternalValue], [8, 34, 40]);
  const shown = await capture(runsCommand, ["show", "3", "--warehouse", out]);
  assert.match(shown, /Values +4 mapped, 20 missing \(2 unmapped, 1 unknown, 17 empty\)\n/);
});

test("the page misses the same values in its sentences, bars, shares and lines over the runs", async () => {
  const page = parsePage(await readFile(quiet.report ?? assert.fail(), "utf8"));
  const textsOf = (selector: string) =>
    page.all(selector).map(({ textContent }) => textContent.replaceAll(/\s+/g, " ").trim());
  const [sentence] = textsOf("#overview p").filter((text) => text.includes("missing"));
  assert.equal(sentence, "20 missing values, 0 lost and 0 gained since run 2");
  assert.ok(textsOf(".lines li").includes("17 of them empty no external value or name"));
  const [shop = {}, ...others] = tableRecords(page, "Missing values by destination");
  assert.deepEqual([shop.missing, shop.before, shop.mapped, others.length], ["20", "20", "16.7%", 0]);
  const fields = tableRecords(page, "Values by destination and field");
  assert.deepEqual(
    fields.map((row) => [row.field, row.mapped, row.missing, row["not sent"]]),
    [
      ["Shop", "4", "20", "12"],
      ["size", "0", "12", "0"],
      ["color", "4", "8", "0"],
      ["note", "0", "0", "12"],
    ],
  );
  const [missed] = tableRecords(page, "Values that most items miss");
  assert.deepEqual([missed?.value, missed?.items], ["large size at Shop", "12"]);
  const titles = textsOf("#runs figure title");
  assert.ok(titles.includes("Missing values: run 1: 3, run 2: 20, run 3: 20"), titles.join("\n"));
  assert.ok(titles.includes("Mapped share at Shop: run 1: 87.5%, run 2: 16.7%, run 3: 16.7%"));
});

test("an item says what its values lack", async () => {
  const text = await capture(explainCommand, ["c-000", "--warehouse", out]);
  const [line] = text.split("\n");
  const lacks =
    'their color missing: no external value for "red", size missing: no external name for "large"';
  assert.equal(line, `Shop: ${lacks}`);
});
