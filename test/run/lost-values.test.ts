/** Nights in which mapped values lose or gain their external value, by every answer that says so. */
import assert from "node:assert/strict";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { diffCommand } from "../../src/cli/commands/diff.ts";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { sqlCommand } from "../../src/cli/commands/sql.ts";
import { fewSampleNights, site } from "../audit/two-nights.ts";
import { capture } from "../cli/capture.ts";
import { summaryText } from "./summary-text.ts";

const { out, folder, exported } = await site();
const [whole] = await fewSampleNights(folder);
const lacking = join(folder, "lacking");
await cp(whole, lacking, { recursive: true });
const file = join(lacking, "custom_fields.ndjson");
const fields = (await readFile(file, "utf8")).trimEnd().split("\n");
const edited = fields.map((line) => {
  const field = JSON.parse(line);
  if (field.name !== "product_line") return line;
  const [mapping] = field.mappings;
  return JSON.stringify({
    ...field,
    mappings: [{ ...mapping, values: mapping.values.slice(1) }, ...field.mappings.slice(1)],
  });
});
await writeFile(file, `${edited.join("\n")}\n`);

const first = await exported(whole);
const loss = await exported(lacking);
const gain = await exported(whole);

test("the night of an entry that was removed says how many values lost their external value, and why", () => {
  assert.equal(first.mappedChanges, null);
  const { mappedChanges, newWarnings } = loss;
  const { lost = 0, items, gained, largest = [] } = mappedChanges ?? {};
  assert.ok(lost > 0 && items === lost && gained === 0, JSON.stringify(mappedChanges));
  const [place] = largest;
  assert.deepEqual(
    [largest.length, place?.field, place?.destination, place?.lost],
    [1, "product_line", "Web CMS", lost],
  );
  assert.match(place?.cause ?? "", /^the entry for ".+" was removed$/);
  assert.equal(newWarnings.filter((text) => text.startsWith("External values were lost since ")).length, 1);
  assert.match(summaryText(loss), /^Complete, 1 thing to look at: /);
  assert.match(summaryText(loss), /\n {2}Next +content-warehouse diff --values\n$/);
});

test("the night in which the entry is back lost nothing and gained as many", () => {
  const { lost, changed } = loss.mappedChanges ?? {};
  assert.deepEqual(gain.mappedChanges, {
    changed,
    items: 0,
    lost: 0,
    gained: lost,
    largest: [],
    receptions: [],
  });
  assert.deepEqual(gain.newWarnings, []);
});

test("the history, the list of runs and the comparison of two runs have the same numbers", async () => {
  const nights = [first, loss, gain].map(({ sequence, mappedChanges }) => [
    sequence,
    mappedChanges?.lost ?? null,
    mappedChanges?.gained ?? null,
  ]);
  const ask = async (sql: string) =>
    JSON.parse(await capture(sqlCommand, [sql, "--warehouse", out, "--format", "json"]));
  const rows = await ask("SELECT sequence, lost, gained FROM run_history ORDER BY sequence");
  assert.deepEqual(
    rows.map(({ sequence, lost, gained }: Record<string, number>) => [sequence, lost, gained]),
    nights,
  );
  const list = JSON.parse(await capture(runsCommand, ["list", "--warehouse", out, "--format", "json"]));
  assert.deepEqual(
    list.runs.map(({ sequence, lost, gained }: Record<string, number>) => [sequence, lost, gained]),
    nights.toReversed(),
  );
  for (const [sequence = 0, lost, gained] of nights.slice(1)) {
    const runs = [String((sequence ?? 0) - 1), String(sequence)];
    const text = await capture(diffCommand, [...runs, "--values", "--warehouse", out, "--format", "json"]);
    const diff = JSON.parse(text);
    assert.deepEqual([diff.lost, diff.gained], [lost, gained]);
    assert.equal(diff.items_with_changed_payload, loss.mappedChanges?.changed);
  }
});
console.log(summaryText(first, { width: 100 }));
console.log(summaryText(loss, { width: 100 }));
console.log(summaryText(gain, { width: 100 }));
console.log(loss.newWarnings);
