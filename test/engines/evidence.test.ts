/** The check of docs/audit.md, which reads nothing but files of `explain --evidence`. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { evidenceFile } from "../../src/audit/questions/evidence-file.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { removeTree } from "../../src/common/tree.ts";
import { opened, sampleWarehouse } from "../audit/sample.ts";
import { either } from "../long.ts";

const PASSTHROUGH = new URL("../audit/passthrough-pipeline.ts", import.meta.url);

const page = await readFile(packagePath("docs/audit.md"), "utf8");
const [, program = ""] = /```python\n([\s\S]*?)```/.exec(page) ?? [];
const folder = await mkdtemp(join(tmpdir(), "evidence-"));
after(() => removeTree(folder));

const check = (...files: string[]) => promisify(execFile)("python3", ["-c", program, ...files]);

/** Items of every status and flag at every destination, and every 25th, in the long form every fifth. */
const ITEMS = `
  SELECT content_id FROM content QUALIFY row_number() OVER (ORDER BY content_id) % ${either(25, 5)} = 0
  UNION SELECT min(content_id) FROM content_mapped_values
  GROUP BY destination_id, status, ambiguous, matched_by_text, collision, value_archived`;

/** Writes the evidence for items of the sample. */
async function evidenceFiles(pipeline: "nightly" | URL, items: string): Promise<string[]> {
  await using run = await opened(await sampleWarehouse(pipeline));
  const found = await run.connection.runAndReadAll(items);
  const files: string[] = [];
  for (const [id] of found.getRows()) {
    const file = join(folder, `${run.run}-${id}.json`);
    await writeFile(file, await evidenceFile(run, String(id)));
    files.push(file);
  }
  return files;
}

test("the check has at most 25 lines, and needs nothing but Python", () => {
  assert.ok(program.trimEnd().split("\n").length <= 25);
  assert.deepEqual(program.match(/^import .*|^from .*/gm), ["import hashlib, json, sys"]);
});

test("digests and payloads of the sample pass the check", async () => {
  const files = await evidenceFiles("nightly", ITEMS);
  assert.ok(files.length > 30, String(files.length));
  await check(...files);
});

test("so do those of values that are sent as they are", async () => {
  await check(...(await evidenceFiles(PASSTHROUGH, `${ITEMS} ORDER BY content_id LIMIT 15`)));
});

test("a file that was changed in one place fails the check, also with a digest that fits", async () => {
  const [file = ""] = await evidenceFiles(
    "nightly",
    "SELECT content_id FROM content WHERE slug = 'why-your-tent-is-wet-inside-and-what-to-do-about-it'",
  );
  const text = await readFile(file, "utf8");
  await check(file);
  const changed = {
    "the external value": (it: Evidence) => change(it.payloads, "payload", '"nordic"', '"baltic"'),
    "a payload that is not there": (it: Evidence) => it.payloads.pop(),
    "the entry": (it: Evidence) => change(it.definitions, "text", '"nordic"', '"baltic"'),
    "the document": (it: Evidence) => change(it.documents, "text", NORDICS, "e04d5d7a46c43b5b5b5d3be4"),
    "the destination": (it: Evidence) => change(it.destinations, "text", "Web CMS", "Web Shop"),
  };
  for (const [what, alter] of Object.entries(changed)) {
    for (const isSealed of [false, true]) {
      const evidence: Evidence = JSON.parse(text);
      alter(evidence);
      if (isSealed) seal(evidence);
      const other = join(folder, "changed.json");
      await writeFile(other, JSON.stringify(evidence));
      await assert.rejects(check(other), /AssertionError/, what);
    }
  }
});

/** Select value of the item in the field `region`. */
const NORDICS = "caf893c7c05eb1c37b247cec";

type Part = Record<string, unknown>;
type Evidence = Record<"payloads" | "documents" | "definitions" | "destinations", Part[]>;

function change(parts: readonly Part[], member: string, before: string, after: string): void {
  const changed = parts.find((part) => JSON.stringify(part[member]).includes(quoted(part[member], before)));
  assert.ok(changed !== undefined, before);
  const value = changed[member];
  changed[member] =
    typeof value === "string"
      ? value.replaceAll(before, after)
      : JSON.parse(JSON.stringify(value).replaceAll(before, after));
}

/** As it stands in the JSON of a text, or of a value. */
function quoted(value: unknown, text: string): string {
  return typeof value === "string" ? JSON.stringify(text).slice(1, -1) : text;
}

/** Computes the digests anew, as somebody does who forges a file. */
function seal({ documents, definitions, destinations }: Evidence): void {
  for (const part of [...documents, ...definitions, ...destinations])
    part.sha256 = createHash("sha256").update(String(part.text)).digest("hex");
}
