/** `raw/extract.json`: what is written is what is read, and damaged files. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { removeTree } from "../../src/common/tree.ts";
import { readExtractRecord, writeExtractRecord } from "../../src/raw/extract-record.ts";
import { sampleWarehouse } from "../audit/sample.ts";

const published = join(await sampleWarehouse(), "current", "raw", "extract.json");
const folder = await mkdtemp(join(tmpdir(), "extract-"));
after(() => removeTree(folder));
const file = join(folder, "extract.json");

suite("the facts of a run", () => {
  test("are the same when they are written again, as a value and in bytes, with IDs sorted and each once", async () => {
    const facts = await readExtractRecord(published);
    assert.deepEqual(await writeExtractRecord(file, facts), facts);
    assert.deepEqual(await readFile(file), await readFile(published));
    const items = { ...facts.items, vanished: ["b", "a", "b"] };
    assert.deepEqual((await writeExtractRecord(file, { ...facts, items })).items.vanished, ["a", "b"]);
  });

  test("of another form, and damaged ones, are refused", async () => {
    const text = await readFile(published, "utf8");
    const wrong = [
      text.replace('"version":3', '"version":4'),
      text.slice(0, -10),
      text.replace('"policy":"drop"', '"policy":"good"'),
      "[]",
    ];
    for (const other of wrong) {
      await writeFile(file, other);
      await assert.rejects(readExtractRecord(file), { code: "verify.failed" });
    }
  });
});
