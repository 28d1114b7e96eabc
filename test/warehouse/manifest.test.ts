import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { runName, stagingFolder } from "../../src/warehouse/layout.ts";
import { prepareOutput } from "../../src/warehouse/lock.ts";
import { readManifest, writeManifest } from "../../src/warehouse/manifest.ts";
import { temporaryFolder } from "../load/fixtures.ts";
import { NIGHT, statement } from "./published.ts";

const FILES = [{ path: "warehouse.duckdb", bytes: 12, sha256: "0".repeat(64), rows: null }];

async function written(folder: string): Promise<string> {
  const output = await prepareOutput(folder);
  const unended = statement(stagingFolder(output, runName(1, NIGHT)), 3);
  const stated = { ...unended, endedAt: "2026-11-20T02:01:02.500Z" };
  const manifest = await writeManifest(folder, stated, FILES);
  assert.deepEqual(manifest, { manifestVersion: 1, ...stated, files: FILES });
  return readFile(join(folder, "manifest.json"), "utf8");
}

test("a manifest is read back as it was written, and never overwritten", async (t) => {
  const folder = await temporaryFolder(t);
  const text = await written(folder);
  assert.deepEqual(await readManifest(folder), JSON.parse(text));
  assert.ok(text.endsWith("}\n"));
  await assert.rejects(written(folder), { code: "EEXIST" });
});

test("G1: a manifest that is missing, cut off, empty, zeroed or of another form is unreadable, never guessed", async (t) => {
  const folder = await temporaryFolder(t);
  await assert.rejects(readManifest(folder), { code: "verify.failed", message: /missing/ });
  const text = await written(folder);
  const manifest = JSON.parse(text);
  const damages = [
    text.slice(0, -20),
    "",
    "\0".repeat(200),
    "null",
    "[]",
    "{}",
    JSON.stringify({ ...manifest, rows: { content: -1 } }),
    JSON.stringify({ ...manifest, run: "../x" }),
    JSON.stringify({ ...manifest, manifestVersion: "1" }),
    JSON.stringify({ ...manifest, files: undefined }),
  ];
  for (const damaged of damages) {
    await writeFile(join(folder, "manifest.json"), damaged);
    await assert.rejects(readManifest(folder), { code: "verify.failed", exitCode: 31 }, damaged);
  }
  await writeFile(join(folder, "manifest.json"), JSON.stringify({ ...manifest, verdict: "fine" }));
  await assert.rejects(readManifest(folder), { code: "verify.failed", message: /verdict: / });
});
