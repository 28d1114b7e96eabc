import assert from "node:assert/strict";
import { test } from "node:test";
import { release } from "../../src/common/free-memory.ts";

test("bytes give back a buffer that is theirs alone", () => {
  const own = new Uint8Array(100_000);
  release(own);
  assert.equal(own.buffer.byteLength, 0);
  // Once more changes nothing.
  release(own);
});

test("bytes that are a part of a buffer leave it to the others", () => {
  const pooled = Buffer.from("a small text");
  release(pooled);
  assert.equal(pooled.toString(), "a small text");
  const whole = new Uint8Array(100_000).fill(7);
  release(whole.subarray(1));
  assert.equal(whole[99_999], 7);
});
