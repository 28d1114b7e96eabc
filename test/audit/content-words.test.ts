/** What counts as a change of a text, and how it is told. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { withoutSignature } from "../../src/api/signed-url.ts";
import { UNSIGNED } from "../../src/audit/content/compared-sql.ts";
import { changedWords } from "../../src/audit/content/words.ts";
import fc from "../properties.ts";

const URLS = [
  "https://x.example/a.png",
  "https://x.example/a.png?v=1",
  "https://x.example/a.png?v=2",
  "https://x.example/a.png?v=1&X-Amz-Date=1&X-Amz-Signature=one",
  "https://x.example/a.png?v=1&X-Amz-Date=2&X-Amz-Signature=two",
  "https://x.example/a.png?v=2&X-Amz-Date=2&X-Amz-Signature=two",
  "HTTPS://x.example/b.png?Expires=1&Signature=a&Key-Pair-Id=k",
  "HTTPS://x.example/b.png?Expires=2&Signature=b&Key-Pair-Id=k",
  "https://x.example/b.png?Expires=1",
  "https://x.example/b.png?Expires=2",
  "https://x.example/c?se=1&sp=r&sig=a#top",
  "https://x.example/c?se=2&sp=r&sig=b#top",
  "https://x.example/c?se=2&sp=r&sig=b#end",
  "see https://x.example/c?sig=a",
  "see https://x.example/c?sig=b",
  "signature=a",
] as const;

test("the database takes texts for the same but for a signature where the fingerprint of an item does", async () => {
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  await connection.run(UNSIGNED);
  const unsigned = async (kind: "text" | "json", given: string) =>
    (await connection.runAndReadAll(`SELECT made_unsigned_${kind}($1::VARCHAR)`, [given])).getRows()[0]?.[0];
  for (const one of URLS)
    for (const other of URLS) {
      const isSame = withoutSignature(one) === withoutSignature(other);
      assert.equal(
        (await unsigned("text", one)) === (await unsigned("text", other)),
        isSame,
        `${one} ${other}`,
      );
    }
  const json = (signature: string, size: number) =>
    JSON.stringify({ at: "x?sig=kept", files: [{ url: `https://x.example/a?sig=${signature}`, size }] });
  assert.equal(await unsigned("json", json("a", 1)), await unsigned("json", json("b", 1)));
  assert.notEqual(await unsigned("json", json("a", 1)), await unsigned("json", json("a", 2)));
  connection.closeSync();
});

test("a change is told in words", () => {
  const told = changedWords("It was due to Monday, says Ann.", "It was postponed to Monday, says Ann.");
  assert.equal(told, "It was [-due-]{+postponed+} to Monday, says Ann.");
  assert.equal(changedWords(null, "new words"), 'nothing -> "new words"');
  assert.equal(changedWords("draft", "final"), '"draft" -> "final"');
  const long = "word ".repeat(5000);
  assert.equal(
    changedWords(`${long}one ${long}`, `${long}two ${long}`),
    "… word word word word [-one-]{+two+} word word word word …",
  );
});

test("a change in words is short, and holds something that changed, whatever the texts are", () => {
  const text = fc.array(fc.constantFrom("a", "bb", "ccc", " ", "\n", "😀", "<p>", "x".repeat(400)), {
    maxLength: 300,
  });
  fc.assert(
    fc.property(text, text, (one, other) => {
      const [before, after] = [one.join(""), other.join("")];
      fc.pre(before !== after);
      const told = changedWords(before, after);
      assert.ok(told.length < 900, String(told.length));
      assert.match(told, /\[-|\{\+|->/);
    }),
    { numRuns: 300 },
  );
});
