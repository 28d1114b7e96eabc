import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { auditCommand } from "../../../src/cli/commands/audit.ts";
import { whatIfCommand } from "../../../src/cli/commands/what-if.ts";
import { sampleWarehouse } from "../../audit/sample.ts";
import { capture } from "../capture.ts";

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

test("a screen gets the changes by destination and field, by value, and item by item", async () => {
  assert.match(
    await whatIf(file),
    /^No external value would change in the run 000001-\S+\. Entries of mappings: (\d+) in the file, \1 in the run\.\n$/,
  );
  const mapping = await edited("north.csv", ",T1 North\n", ",=Far North\n");
  const text = await whatIf(mapping);
  assert.match(text, /│ Partner Portal │ region │ +136 │ +139 │ +0 │ +0 │ +139 │/);
  assert.match(text, /│ Partner Portal │ region │ Nordics +│ +69 │ T1 North │ =Far North +│/);
  assert.match(text, /\nand 119 more rows; --limit 139 shows all\n$/);
  assert.match(
    text,
    /^139 external values of 136 items would change in the run 000001-\S+\. Entries of mappings: \d+ in the file, \d+ in the run\.\n/,
  );
  const csv = (await whatIf(mapping, "--format", "csv")).split("\n");
  assert.equal(csv.length, 141);
  assert.ok(csv[1]?.endsWith(",changed,Sales Territory,T1 North,Sales Territory,=Far North"), csv[1]);
  const guarded = (await whatIf(mapping, "--spreadsheet")).split("\n");
  assert.ok(guarded[1]?.endsWith(",Sales Territory,'=Far North"), guarded[1]);
  const json = JSON.parse(await whatIf(mapping, "--format", "json"));
  assert.deepEqual([json.items_changed, json.values_changed, json.items.length], [136, 139, 139]);
  assert.equal(json.items[0].external_value_after, "=Far North");
});

test("changes at a destination that receives no values stand apart, and are not counted among the others", async () => {
  const text = await whatIf(await edited("both.csv", /,(Foot|D)\n/g, ",$1!\n"));
  const [received = "", apart = ""] = text.split("The same at destinations that receive no values");
  assert.match(
    received,
    /^126 external values of 75 items would change .*, 75 of them at destinations that receive values\. /,
  );
  assert.match(received, /│ Partner Portal │/);
  assert.doesNotMatch(received, /│ Print Archive /);
  assert.match(apart, /│ Print Archive │ product_line │ +51 │/);
});
