import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { decodeBytes, parseJson } from "../../../src/extract/http/decode.ts";
import { SourceError } from "../../../src/extract/http/source-error.ts";
import { throwsWith } from "../../failing.ts";
import { either } from "../../long.ts";
import fc from "../../properties.ts";

/** The text of a body that may have a megabyte, unless the test says otherwise. */
function decodeBody(body: Uint8Array, contentEncoding: string | null, limitBytes = 1024 * 1024): string {
  return decodeBytes(
    { body, contentEncoding, contentType: "text/plain; charset=latin1" },
    limitBytes,
  ).toString();
}
const TEXT = JSON.stringify({
  response: Array.from({ length: 40 }, (_, n) => ({ id: `item-${n}`, title: "Ä 漢字" })),
});
const GZIP = gzipSync(TEXT);

test("a body is decoded as it was sent: identity or gzip, in either case, with or without a byte order mark", () => {
  const bytes = new TextEncoder().encode(TEXT);
  for (const coding of [null, "", "identity", "IDENTITY"]) assert.equal(decodeBody(bytes, coding), TEXT);
  for (const coding of ["gzip", "GZip", " gzip ", "x-gzip"]) assert.equal(decodeBody(GZIP, coding), TEXT);
  assert.equal(decodeBody(new TextEncoder().encode(`\ufeff${TEXT}`), null), TEXT);
  assert.equal(
    decodeBody(Buffer.concat([gzipSync(TEXT.slice(0, 9)), gzipSync(TEXT.slice(9))]), "gzip"),
    TEXT,
  );
});

test("A12: gzip cut at every byte offset is never accepted", () => {
  for (let end = 0; end < GZIP.length; end++) {
    const error = throwsWith("source.damaged", () => decodeBody(GZIP.subarray(0, end), "gzip"));
    assert.ok(error instanceof SourceError && error.attemptsAtMost === 6);
  }
});

test("A13: gzip with any one bit of its data or trailer changed is never taken for the text", () => {
  for (let at = 10; at < GZIP.length; at++) {
    const altered = Buffer.from(GZIP);
    altered[at] = (altered[at] ?? 0) ^ (1 << (at % 8));
    throwsWith("source.damaged", () => decodeBody(altered, "gzip"));
  }
});

test("A13: gzip with bytes after its end is never accepted, be they zeros or the begin of another member", () => {
  for (const junk of [[0], [0, 0, 0, 0], [1], [0x1f], [0x1f, 0x8b], [10], ["x".charCodeAt(0), 0]]) {
    throwsWith("source.damaged", () => decodeBody(Buffer.concat([GZIP, Buffer.from(junk)]), "gzip"));
  }
});

test("A14: a gzip bomb ends at the cap, without another attempt and without the memory it asks for", () => {
  const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024));
  assert.ok(bomb.length < 150 * 1024);
  const before = process.memoryUsage().rss;
  const error = throwsWith("source.too_large", () => decodeBody(bomb, "gzip", 64 * 1024 * 1024));
  assert.equal(error.retry, false);
  assert.match(error.message, /64 MB.*perPage/);
  assert.ok(process.memoryUsage().rss - before < 200 * 1024 * 1024);
});

test("A15, C1: what was not asked for, is not gzip or not UTF-8 is asked for twice, and the message says what was declared", () => {
  const codings = [
    "br",
    "deflate",
    "zstd",
    "br,foo",
    "gzip, gzip",
    "gzip,gzip,gzip,gzip,gzip,gzip,gzip",
    "gzip, identity",
  ];
  const notUtf8 = [
    Buffer.from(`\ufeff${TEXT}`, "utf16le"),
    Buffer.from([0x22, 0xff, 0x22]),
    Buffer.from([0x22, 0xc3, 0x28, 0x22]),
    Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
    Buffer.from("Grüße", "latin1"),
  ];
  const rows: [body: Buffer, coding: string | null, says: string][] = [
    ...codings.map((coding): [Buffer, string, string] => [GZIP, coding, `(content-encoding: ${coding};`]),
    [brotliCompressSync(TEXT), "br", "(content-encoding: br;"],
    [deflateSync(TEXT), "gzip", "a damaged gzip body"],
    [Buffer.from(TEXT), "gzip", "a damaged gzip body"],
    ...notUtf8.map((body): [Buffer, null, string] => [
      body,
      null,
      "not UTF-8 text (content-type: text/plain; charset=latin1)",
    ]),
  ];
  for (const [body, coding, says] of rows) {
    const error = throwsWith("source.damaged", () => decodeBody(body, coding));
    assert.ok(error instanceof SourceError && error.attemptsAtMost === 2);
    assert.ok(error.message.includes(says), error.message);
  }
});

/** The number that a decimal text says, as its digits without zeros at either end, and a power of ten. */
function numberOf(decimal: string): [digits: bigint, power: number] {
  const [mantissa = "", exponent = "0"] = decimal.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  let digits = BigInt(whole + fraction);
  let power = 0 + Number(exponent) - fraction.length;
  if (digits === 0n) return [0n, 0];
  if (whole.startsWith("-") && digits > 0n) digits = -digits;
  for (; digits % 10n === 0n; digits /= 10n) power += 1;
  return [digits, power];
}

test("C3, C4: no number is rounded, however many digits it has and wherever it stands", () => {
  const number = fc.stringMatching(/^-?(?:0|[1-9]\d{0,20})(?:\.\d{1,25})?(?:[eE][+-]?\d{1,3})?$/);
  fc.assert(
    fc.property(
      number,
      fc.constantFrom("[#]", '{"a": # }', "[#,1e400]", '{"response":[[],{"a":#}],"b":1}'),
      (sent, shape) => {
        const kept = JSON.stringify(parseJson(shape.replace("#", sent)));
        const [before = "", after = ""] = shape.replaceAll(" ", "").split("#");
        assert.deepEqual(numberOf(kept.slice(before.length, kept.length - after.length)), numberOf(sent));
      },
    ),
    { numRuns: either(600, 3000) },
  );
});

test("C5, C18, C19: what is not JSON is refused, and no error shows a piece of it", () => {
  const secret = "jane.doe@example.com";
  const bodies = [
    "",
    " ",
    "NaN",
    "[1,]",
    "// x\n{}",
    "{} {}",
    "[1] x",
    "[",
    '{"a"',
    "[1e400",
    "\u0000",
    `{"email":"${secret}"} trailing`,
    `["${secret}`,
    `<html>${secret}</html>`,
    `{"a":${secret}}`,
    `[1e400,"${secret}]`,
    "[01]",
    "[0x10]",
    '["\t"]',
    '["\\x"]',
    "[tru]",
    "[\u00a0]",
  ];
  for (const body of bodies) {
    const error = throwsWith("source.damaged", () => parseJson(body));
    assert.ok(error instanceof SourceError);
    assert.equal(error.attemptsAtMost, 2);
    assert.ok(!inspect(error, { depth: Number.POSITIVE_INFINITY }).includes("jane"));
  }
});
