import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { explainCommand } from "../../../src/cli/commands/explain.ts";
import { sampleWarehouse } from "../../audit/sample.ts";
import { exportFrom, MAPPING, temporaryFolder } from "../../run/running.ts";
import { itemsOf, Scripted } from "../../run/scripted.ts";
import { outcome } from "../capture.ts";

const SLUG = "why-your-tent-is-wet-inside-and-what-to-do-about-it";
const sample = await sampleWarehouse();

async function evidenceOf(t: TestContext, item: string, { out = sample, before = "" } = {}) {
  const folder = await temporaryFolder(t);
  const file = join(folder, "item.json");
  if (before !== "") await writeFile(file, before, { mode: 0o644 });
  const written = await outcome(explainCommand, [item, "--evidence", file, "--warehouse", out]);
  return { ...written, file, folder };
}

test("the evidence has the texts with their digests, and the steps and payloads that the answer shows", async (t) => {
  const { file, err, text } = await evidenceOf(t, SLUG);
  assert.match(err, /\/item\.json \(.* kB\) has the evidence of run 000001-/);
  assert.match(text, /^Web CMS: .*market "nordic"$/m);
  const evidence = JSON.parse(await readFile(file, "utf8"));
  assert.deepEqual(
    evidence.documents.map(({ mode, shape }: Record<string, unknown>) => [mode, shape]),
    [
      ["dynamic", "dynamic"],
      ["full", "full"],
    ],
  );
  for (const kind of ["documents", "definitions", "destinations"]) {
    assert.ok(evidence[kind].length > 0);
    for (const { text: kept, sha256 } of evidence[kind])
      assert.equal(createHash("sha256").update(kept).digest("hex"), sha256);
  }
  const [document] = evidence.documents;
  const asked = evidence.requests.find(
    ({ request }: Record<string, unknown>) => request === document.request,
  );
  assert.equal(asked.mode, "dynamic");
  assert.match(asked.sha256, /^[0-9a-f]{64}$/);
  assert.match(evidence.about, /requests? is of the response .* stated only/);
  const web = evidence.payloads.find((each: Record<string, unknown>) => each.destination === "Web CMS");
  assert.deepEqual(web.payload.market, ["nordic"]);
  assert.ok(evidence.steps.some(({ rule }: Record<string, unknown>) => rule === 7));
});

test("a new file and one that is replaced can be read by their owner alone", async (t) => {
  for (const before of ["", "old"]) {
    const { file, err } = await evidenceOf(t, SLUG, { before });
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(/the old content is replaced/.test(err), before !== "");
  }
});

test("a run without raw documents has no evidence: 3, and the file stays as it was", async (t) => {
  const out = await temporaryFolder(t);
  const { url } = await Scripted.start(t, itemsOf(1));
  await exportFrom({ url, out, pipelineUrl: MAPPING, config: { raw: false } });
  const [item = ""] = itemsOf(1).map(({ id }) => String(id));
  const { exitCode, error, text, file, folder } = await evidenceOf(t, item, { out, before: "old" });
  assert.equal(exitCode, 3);
  assert.match(error?.message ?? "", /keeps no raw documents, .*; set "raw" to true/);
  assert.equal(text, "");
  assert.equal(await readFile(file, "utf8"), "old");
  assert.deepEqual(await readdir(folder), ["item.json"]);
});

test("an item that does not exist leaves no file", async (t) => {
  const { exitCode, file } = await evidenceOf(t, "no-such-item");
  assert.equal(exitCode, 3);
  assert.equal(existsSync(file), false);
});

test("no evidence is written among the runs", async () => {
  const file = join(sample, "runs", "item.json");
  const { error } = await outcome(explainCommand, [SLUG, "--evidence", file, "--warehouse", sample]);
  assert.equal(error?.code, "config.output");
});
