import assert from "node:assert/strict";
import { test } from "node:test";
import { printable } from "../../src/common/printable.ts";

test("S19: what steers a terminal becomes a space", () => {
  assert.equal(
    printable("a\u001b]0;x\u0007b\u009bc\u202ed\u2066e\r\nf\u0000g\u2028h\ufeffi"),
    "a ]0;x b c d e f g h i",
  );
  assert.equal(printable("  Grüße,  漢字 \n\n"), "Grüße, 漢字");
});

test("a long text is cut, and says so", () => {
  assert.equal(printable("x".repeat(300)).length, 200);
  assert.ok(printable("x".repeat(300)).endsWith("x…"));
  assert.equal(printable("x".repeat(200)), "x".repeat(200));
  assert.equal(printable("abcdef", 4), "abc…");
});
