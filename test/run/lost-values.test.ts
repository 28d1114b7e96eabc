/** Nights in which mapped values lose or gain their external value, by every answer that says so. */
import assert from "node:assert/strict";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { hasAllMappedValues } from "../../src/audit/mapping/lost-and-gained.ts";
import { auditCommand } from "../../src/cli/commands/audit.ts";
import { diffCommand } from "../../src/cli/commands/diff.ts";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { sqlCommand } from "../../src/cli/commands/sql.ts";
import { TABLES_OF_VIEWS } from "../../src/load/views.ts";
import { fewSampleNights, site } from "../audit/two-nights.ts";
import { capture, outcome } from "../cli/capture.ts";
import { failsWith } from "../failing.ts";
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

test("H24: the night of an entry that was removed says how many values lost their external value, and why", () => {
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
  assert.equal(newWarnings.filter((text) => text.startsWith("External values lost since run ")).length, 1);
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

test("H26: a gate counts what was lost, and what there is more than in the run before, or says that it compares nothing", async () => {
  const { lost = 0 } = loss.mappedChanges ?? {};
  const audit = async (...args: string[]) => {
    const { exitCode, err } = await outcome(auditCommand, [...args, "--warehouse", out]);
    return [exitCode, err];
  };
  const none = [0, ""];
  assert.equal((await audit("2", "--fail-on", "lost"))[0], 25);
  assert.equal((await audit("2", "--fail-on", `unmapped=+${lost - 1}`))[0], 25);
  assert.deepEqual(await audit("2", "--fail-on", `lost=${lost},unmapped=+${lost}`), none);
  assert.deepEqual(await audit("2", "--field", "region", "--fail-on", "lost,unmapped=+0"), none);
  assert.deepEqual(await audit("3", "--fail-on", "lost,unmapped=+0"), none);
  const [code, passed] = await audit("1", "--fail-on", "lost");
  assert.equal(code, 0);
  assert.match(String(passed), /^--fail-on lost passed: there is no run before to compare with/);
  const nothing = "there is no value to count at destinations that receive values.";
  for (const kind of ["unmapped", "lost"])
    assert.deepEqual(await audit("2", "--destination", "Print Archive", "--fail-on", kind), [
      0,
      `--fail-on ${kind} passed: ${nothing}\n`,
    ]);
  for (const name of ["--field", "--destination"])
    assert.equal((await audit("2", name, "missing", "--fail-on", "lost"))[0], 3);
});

test("H27: mapped values of some items are compared with nothing", () => {
  assert.equal(hasAllMappedValues(TABLES_OF_VIEWS, { unread: 0 }), true);
  assert.equal(hasAllMappedValues(TABLES_OF_VIEWS, { unread: 1 }), false);
  assert.equal(hasAllMappedValues(TABLES_OF_VIEWS.slice(1), { unread: 0 }), false);
});

test("H25: a test of the pipeline blocks a night that lost values, unless it is accepted", async () => {
  const lossless = new URL("./lossless-pipeline.ts", import.meta.url);
  const { message } = await failsWith("audit.threshold", exported(lacking, lossless));
  assert.match(message, /"lost external values" found \d+ failing rows?, limit: 0; .* --accept-lost /);
  const accepted = await exported(lacking, lossless, { acceptLost: true });
  assert.deepEqual(accepted.mappedChanges?.lost, loss.mappedChanges?.lost);
  assert.ok(accepted.warnings.some((text) => text.startsWith('The test "lost external values" found')));
});
