import assert from "node:assert/strict";
import { test } from "node:test";
import { RawFileReader } from "../../src/raw/raw-file.ts";
import { bodyOf, DYNAMIC, NightlyLanding } from "../extract/landing/nightly-landing.ts";

test("what was read of a raw file is given back when it is done", async (t) => {
  const bytes = 2 * 1024 * 1024;
  const landing = await NightlyLanding.in(t);
  landing.lander.page({ ...DYNAMIC, body: bodyOf(JSON.stringify({ id: "a", title: "x".repeat(bytes) })) });
  const { rawFile } = landing.write(1);
  const rows = new RawFileReader(rawFile);
  assert.equal(String(rows.view(0).document.title).length, bytes);
  const before = process.memoryUsage().arrayBuffers;
  rows[Symbol.dispose]();
  assert.ok(before - process.memoryUsage().arrayBuffers > 0.9 * bytes);
});
