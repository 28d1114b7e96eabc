/** `raw/extract.json`: what is written is what is read, and files of other programs. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { removeTree } from "../../src/common/tree.ts";
import { readExtractRecord, writeExtractRecord } from "../../src/raw/extract-record.ts";
import { readRaw } from "../../src/raw/read-raw.ts";
import { sampleWarehouse } from "../audit/sample.ts";

const published = join(await sampleWarehouse(), "current", "raw", "extract.json");
const folder = await mkdtemp(join(tmpdir(), "extract-"));
after(() => removeTree(folder));
const file = join(folder, "extract.json");

suite("the facts of a run", () => {
  test("are the same when they are written again, as a value and in bytes, with IDs sorted and each once", async () => {
    const facts = await readExtractRecord(published);
    assert.ok(facts !== undefined);
    assert.deepEqual(await writeExtractRecord(file, facts), facts);
    assert.deepEqual(await readFile(file), await readFile(published));
    const { vanished } = await writeExtractRecord(file, { ...facts, vanished: ["b", "a", "b"] });
    assert.deepEqual(vanished, ["a", "b"]);
  });

  test("are not there where an older program wrote the folder, which is said", async () => {
    await writeFile(file, '{"version":1,"verdict":"complete"}');
    assert.equal(await readExtractRecord(file), undefined);
    await assert.rejects(readRaw(folder), { code: "config.not_found", message: /^An older version of/ });
  });

  test("of a newer program, and damaged ones, are refused", async () => {
    const text = await readFile(published, "utf8");
    const wrong = [
      ["config.newer_version", text.replace('"version":2', '"version":3')],
      ["verify.failed", text.slice(0, -10)],
      ["verify.failed", text.replace('"verdict":"complete"', '"verdict":"good"')],
      ["verify.failed", "[]"],
    ] as const;
    for (const [code, other] of wrong) {
      await writeFile(file, other);
      await assert.rejects(readExtractRecord(file), { code });
    }
  });
});
