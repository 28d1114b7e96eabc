import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../src/common/json.ts";
import { Drift, type DriftEntry } from "../../src/raw/drift.ts";
import { documentPreparer } from "../../src/raw/prepare.ts";
import { KEEP } from "../policies.ts";
import { transform } from "../transform/harness.ts";

describe("the tally of drift", () => {
  test("counts by path and kind, and shows the first observation, whatever the order of work and of threads", () => {
    for (const order of [
      [1, 2, 3],
      [3, 1, 2],
      [2, 3, 1],
    ]) {
      const threads = [new Drift(), new Drift()];
      for (const at of order) threads[at % 2]?.note("title", "type", at, `item-${at}`, { n: at });
      threads[1]?.note("title", "views_differ", 9, null, "text");
      const sum = new Drift();
      for (const each of threads) for (const entry of each.take()) sum.add(entry);
      assert.deepEqual(
        threads.flatMap((each) => each.take()),
        [],
        "taken once",
      );
      assert.deepEqual(sum.sorted(), [
        { path: "title", kind: "type", count: 3, order: 1, contentId: "item-1", example: '{"n":1}' },
        { path: "title", kind: "views_differ", count: 1, order: 9, contentId: null, example: "text" },
      ]);
    }
  });

  test("keeps no more than 200 characters of an example, and none where there is no value", () => {
    const drift = new Drift();
    drift.note("long", "type", 1, null, "x".repeat(300));
    drift.note("none", "personal_dropped", 1, null);
    const [long, none] = drift.sorted();
    assert.equal(long?.example, `${"x".repeat(199)}…`);
    assert.equal(none?.example, null);
  });
});

function kinds(entries: readonly DriftEntry[]): Record<string, number> {
  return Object.fromEntries(entries.map(({ path, kind, count }) => [`${kind} ${path}`, count]));
}

describe("unknown fields", () => {
  test("H1: are counted once for each answer that has them", () => {
    const document = {
      id: "i",
      mood: "calm",
      attachments: [
        { id: "a", mood: 1 },
        { id: "b", mood: 2 },
      ],
    };
    const made = transform([
      [
        { shape: "dynamic", document },
        { shape: "full", document },
      ],
    ]);
    assert.deepEqual(kinds(made.drift), { "unknown_field attachments[].mood": 4, "unknown_field mood": 2 });
  });
});

describe("aliases", () => {
  const prepare = documentPreparer({
    ...KEEP,
    aliases: { vendor_url: "service_url" },
  });
  const prepared = (document: JsonObject) => {
    const drift = new Drift();
    const { unknown } = prepare("dynamic", document, { order: 1, contentId: "i" }, drift);
    return { document, unknown: unknown.map(({ path }) => path.join(".")) };
  };

  test("give a field the name that the specification has for it", () => {
    assert.deepEqual(prepared({ id: "i", vendor_url: "u" }), {
      document: { id: "i", service_url: "u" },
      unknown: [],
    });
  });

  test("overwrite nothing: with both names there, the vendor's stays unknown", () => {
    const document = { id: "i", vendor_url: "u", service_url: "s" };
    assert.deepEqual(prepared({ ...document }), { document, unknown: ["vendor_url"] });
  });
});
