import assert from "node:assert/strict";
import { test } from "node:test";
import {
  jsonText,
  markdownSentence,
  markdownText,
  printable,
  printableLine,
  printableText,
  spreadsheetText,
} from "../../src/common/printable.ts";
import fc from "../properties.ts";

const STEERING = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/u;

test("S19: no form of a text steers what it is written to, and JSON says the same as before", () => {
  const units = fc.constantFrom(
    "a",
    "\n",
    "\t",
    "\r",
    "\0",
    "\u001b",
    "\u009b",
    "\u202e",
    "\u2028",
    "\ud800",
    "😀",
  );
  const texts = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: units }));
  fc.assert(
    fc.property(texts, (text) => {
      for (const line of [
        printable(text),
        printableLine(text),
        markdownText(text),
        markdownSentence(text),
        jsonText(text),
      ])
        assert.doesNotMatch(line, STEERING);
      assert.doesNotMatch(printableText(text).replace(/[\n\t]/g, ""), STEERING);
      assert.doesNotMatch(spreadsheetText(text).replace(/[\r\n\t]/g, ""), STEERING);
      assert.doesNotMatch(jsonText({ text }, 2).replaceAll("\n", ""), STEERING);
      assert.deepEqual(JSON.parse(jsonText({ text }, 2)), { text });
    }),
  );
  assert.equal(printableText("a\u001b[31mb\r\n\tc\u202e"), "a[31mb\n\tc");
  assert.equal(printableLine("a\r\nb\nc\td"), "a↵b↵c d");
});

test("a sentence in Markdown keeps the names of settings as code, and nothing else of its markup", () => {
  for (const [text, markdown] of [
    ["`reread_days` 7 *saves*", "`reread_days` 7 \\*saves\\*"],
    ["leave out `--a-b`.", "leave out `--a-b`."],
    ["`<b>` and ` and ``code``", "\\`&lt;b>\\` and \\` and \\`\\`code\\`\\`"],
  ] as const)
    assert.equal(markdownSentence(text), markdown);
  assert.equal(markdownText("`code`"), "\\`code\\`");
});

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
