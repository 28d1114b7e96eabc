import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { auditCommand } from "../../../src/cli/commands/audit.ts";
import { whatIfCommand } from "../../../src/cli/commands/what-if.ts";
import { sampleWarehouse } from "../../audit/sample.ts";
import { capture, outcome } from "../capture.ts";

const out = await sampleWarehouse();
const file = join(out, "..", "mapping.csv");
await capture(auditCommand, ["--warehouse", out, "--export-mapping", file]);
const whatIf = (mapping: string, ...args: string[]) =>
  capture(whatIfCommand, ["--mapping", mapping, "--warehouse", out, ...args]);

/** The exported mapping with a change. */
async function edited(name: string, from: string | RegExp, to: string): Promise<string> {
  const path = join(out, "..", name);
  const text = await readFile(file, "utf8");
  const changed = text.replaceAll(from, to);
  assert.notEqual(changed, text);
  await writeFile(path, changed);
  return path;
}

test("the values whose external value would change are listed with what they give, and counted in the first line", async () => {
  assert.match(
    await whatIf(file),
    /^No external value would change in the run 000001-\S+\. Entries of mappings: (\d+) in the file, \1 in the run\.\n$/,
  );
  const mapping = await edited("north.csv", ",T1 North\n", ",=Far North\n");
  const text = await whatIf(mapping);
  assert.match(text, /\nPartner Portal\n[\s\S]*│ region │ Nordics +│ "T1 North" │ "=Far North" +│ +69 │/);
  assert.match(
    text.replaceAll("\n", " "),
    /^139 external values of 136 items would change in the run 000001-\S+: 0 gained, 0 lost\. Entries of mappings: \d+ in the file, \d+ in the run\. /,
  );
  const csv = (await whatIf(mapping, "--format", "csv")).split("\n");
  assert.equal(csv.length, 4);
  assert.match(csv[1] ?? "", /,changed,Sales Territory,T1 North,Sales Territory,=Far North,70$/);
  const guarded = (await whatIf(mapping, "--spreadsheet")).split("\n");
  assert.match(guarded[1] ?? "", /,Sales Territory,'=Far North,70$/);
  const json = JSON.parse(await whatIf(mapping, "--format", "json"));
  assert.deepEqual([json.items_changed, json.values_changed, json.values.length], [136, 139, 2]);
  assert.equal(json.values[0].external_value_after, "=Far North");
});

test("values that would be gained or lost are counted", async () => {
  const path = join(out, "..", "without.csv");
  await writeFile(path, lines.filter((line) => line !== north.join(",")).join("\n"));
  assert.match(
    (await whatIf(path)).replaceAll("\n", " "),
    /^69 external values of 69 items .*: 0 gained, 69 lost\. /,
  );
});

const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
const [head = "", ...entries] = lines;
const columns = head.split(",");
/** Cells of the line for "T1 North" of the Nordics, none of which has a comma. */
const north = entries.find((line) => /,Nordics,.*,T1 North$/.test(line))?.split(",") ?? assert.fail();

/** The exported mapping with the cells of that line, and then a line of its own. */
async function withLine(name: string, cells: Readonly<Record<string, string>>): Promise<string> {
  const path = join(out, "..", name);
  const added = north.map((cell, at) => cells[columns[at] ?? ""] ?? cell);
  await writeFile(path, [...lines, added.join(",")].join("\n"));
  return path;
}

test("K4: a text that its ID contradicts is refused with line and column, and so is an added line without a value", async () => {
  const place = `line ${lines.length + 1}, column`;
  for (const [cells, says] of [
    [{ value: "Iberia" }, 'value: it is "Iberia", but the ID in this line means "Nordics"; change the ID'],
    [{ display: "nordics" }, 'display: it is "nordics", but the ID in this line means "Nordics"'],
    [{ custom_field: "season" }, 'custom_field: it is "season", but the ID in this line means "region"'],
    [
      { destination: "Web CMS" },
      'destination: it is "Web CMS", but the ID in this line means "Partner Portal"',
    ],
    [{ value_id: "", external_value: "" }, "value_id: it is missing; every external value needs one"],
  ] as const) {
    const mapping = await withLine("contradicts.csv", { mapping_value_id: "", ...cells });
    const { exitCode, error } = await outcome(whatIfCommand, ["--mapping", mapping, "--warehouse", out]);
    assert.equal(exitCode, 2);
    assert.ok(error?.message.startsWith(`${mapping}, ${place} ${says}`), error?.message);
  }
  const empty = await withLine("texts.csv", {
    mapping_value_id: "",
    value: "",
    display: "",
    custom_field: "",
  });
  assert.match(await whatIf(empty), /^No external value would change/);
});

test("K4: an added line that no item can get is named", async () => {
  const mapping = await withLine("twice.csv", { mapping_value_id: "", external_value: "T8" });
  const { ignored_lines, next } = JSON.parse(await whatIf(mapping, "--json"));
  assert.deepEqual(ignored_lines, [lines.length + 1]);
  const sentence = `No item can get the external value of line ${lines.length + 1}: an earlier line has the same value`;
  assert.ok(next[0].startsWith(sentence), next[0]);
  assert.deepEqual(JSON.parse(await whatIf(file, "--json")).ignored_lines, []);
});

test("values that differ only in a blank differ on the screen", async () => {
  const text = await whatIf(await edited("blank.csv", ",T1 North\n", ",T1 North \n"));
  assert.match(text, /│ "T1 North" │ "T1 North " +│/);
});

test("changes at a destination that receives nothing are told as such", async () => {
  const text = await whatIf(await edited("both.csv", /,(Foot|D)\n/g, ",$1!\n"));
  assert.match(
    text.replaceAll("\n", " "),
    /^126 external values of 75 items would change .*, 75 of them at destinations that receive values: 0 gained, 0 lost\. /,
  );
  assert.match(text, /\nPrint Archive \(supports no mappings\)\n[\s\S]*│ product_line │/);
});
