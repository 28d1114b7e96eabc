import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { mayHaveLoneSurrogates } from "../../src/common/json.ts";
import { parseJson } from "../../src/extract/http/decode.ts";
import { Drift, type DriftEntry } from "../../src/raw/drift.ts";
import { replaceLoneSurrogates } from "../../src/raw/well-formed.ts";
import { readPart } from "../../src/storage/parquet-file.ts";
import { EntityStore } from "../../src/transform/entity-store.ts";
import { bodyOf, DYNAMIC, FULL, NightlyLanding } from "../extract/landing/nightly-landing.ts";
import { either } from "../long.ts";
import fc from "../properties.ts";
import { onlyRow, transform } from "../transform/harness.ts";

/** What JavaScript would round or a file could not hold. */

const BIG = "12345678901234567890";

/** Takes one page of each listing through a worker's staging, as the wire gives it. */
async function stage(t: TestContext, dynamic: string, full: string) {
  const landing = await NightlyLanding.in(t);
  const { lander } = landing;
  const first = lander.page({ ...DYNAMIC, body: bodyOf(dynamic) });
  const drift = new Drift();
  const take = (entries: readonly DriftEntry[]) => {
    for (const entry of entries) drift.add(entry);
  };
  take(landing.write(1).drift);
  lander.page({ ...FULL, body: bodyOf(full) });
  take(landing.write(2).drift);
  const result = await landing.transformed();
  const cell = (table: string, column: string): unknown => {
    const part = result.parts.find((each) => each.table === table);
    assert.ok(part, `${table} has rows`);
    const found = readPart(part.part.file).cells(column)[0];
    return Buffer.isBuffer(found) ? found.toString() : found;
  };
  return { first, result, drift: drift.take(), cell };
}

describe("integers beyond 2^53", () => {
  test("C3: keep every digit in columns and in extra, by way of the raw documents too", async (t) => {
    const { cell } = await stage(
      t,
      `{"id":"i","wordcount":9007199254740993,"views":${BIG},"status":{"n":${BIG}},"excerpt":${BIG}}`,
      `{"id":"i","hits":[${BIG}]}`,
    );
    assert.equal(cell("content", "wordcount"), 9_007_199_254_740_993n);
    assert.equal(cell("content", "status"), `{"n":${BIG}}`);
    assert.equal(cell("content", "extra"), `{"excerpt":${BIG},"hits":[${BIG}],"views":${BIG}}`);
  });

  test("keep every digit in what describes shared things, across threads", async (t) => {
    const { result } = await stage(
      t,
      `{"id":"i","content_type_details":{"id":"u","badge":${BIG},"icon":${BIG}}}`,
      `{"id":"i","custom_fields":[{"id":"cf","options":{"limit":${BIG}}}]}`,
    );
    const store = new EntityStore();
    for (const sighting of structuredClone(result.versions)) store.add(sighting);
    const [type] = store.of("content_types");
    assert.equal(JSON.stringify([type?.attributes.icon, type?.unknown]), `[${BIG},{"badge":${BIG}}]`);
    const [field] = store.of("custom_fields");
    assert.equal(JSON.stringify(field?.attributes.options), `{"limit":${BIG}}`);
  });

  test("keep every digit in the answers of lookups", () => {
    const definition = parseJson(
      `{"id":"cf","version":${BIG},"formatted_select_values":[{"id":"v","rank":${BIG}}],"mappings":[{"id":"m","since":${BIG}}]}`,
    );
    const made = transform([], { destinations: [], definitions: [definition as Record<string, unknown>] });
    assert.equal(onlyRow(made, "custom_fields").extra, `{"version":${BIG}}`);
    assert.equal(onlyRow(made, "custom_field_select_values").extra, `{"rank":${BIG}}`);
    assert.equal(onlyRow(made, "custom_field_mappings").extra, `{"since":${BIG}}`);
  });
});

describe("decimals that a double cannot hold", () => {
  const LONG = "0.12345678901234567890";

  test("C4: keep their digits in raw, in extra and as the value of a custom field", async (t) => {
    const { cell } = await stage(
      t,
      `{"id":"i","ratio":${LONG},"status":{"n":-${LONG}e-5},"custom_fields":{"cf":${LONG}}}`,
      `{"id":"i","exact":0.5}`,
    );
    assert.equal(cell("content", "extra"), `{"exact":0.5,"ratio":${LONG}}`);
    assert.equal(cell("content", "status"), `{"n":-${LONG}e-5}`);
    assert.equal(cell("content_custom_field_values", "value"), LONG);
  });

  test("C4: are the nearest double in a typed column, with their digits in extra, and are counted", () => {
    const answers = [
      { shape: "dynamic", document: `{"id":"i","payment":${LONG},"latitude":48.25}` },
    ] as const;
    const made = transform([answers]);
    const row = onlyRow(made, "content");
    assert.deepEqual([row.payment, row.extra], [Number(LONG), `{"payment":${LONG}}`]);
    assert.deepEqual(
      made.drift.map(({ path, kind, count, example }) => [path, kind, count, example]),
      [["payment", "rounded", 1, LONG]],
    );
  });
});

describe("doubles with 17 digits, as many programs print them", () => {
  /** The item's payment, what is kept beside it, and the drift. */
  function paymentOf(sent: string) {
    const made = transform([[{ shape: "dynamic", document: `{"id":"i","payment":${sent}}` }]]);
    const { payment, extra } = onlyRow(made, "content");
    return { payment, extra, drift: made.drift.map(({ kind }) => kind) };
  }

  test("are the double that was meant: nothing is kept beside it, and nothing counted", () => {
    const double = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(double, fc.integer({ min: 0, max: 3 }), (value, zeros) => {
        const [mantissa = "", exponent] = value.toPrecision(17).split("e");
        const padded = `${mantissa}${mantissa.includes(".") ? "0".repeat(zeros) : ""}`;
        const sent = exponent === undefined ? padded : `${padded}E${exponent}`;
        assert.deepEqual(paymentOf(sent), { payment: value + 0, extra: null, drift: [] });
      }),
      { numRuns: either(100, 500) },
    );
    assert.equal(paymentOf("0.10000000000000001").payment, 0.1);
    assert.equal(paymentOf("-1.0000000000000000e+23").payment, -1e23);
  });

  test("are rounded where another digit was sent", () => {
    for (const sent of ["1.2345678901234568", "0.100000000000000001", "9007199254740993", "1e-999"]) {
      const { payment, extra, drift } = paymentOf(sent);
      assert.deepEqual([payment, extra, drift], [Number(sent), `{"payment":${sent}}`, ["rounded"]]);
    }
  });
});

describe("halves of characters", () => {
  test("C6: become U+FFFD, in values and in names, and are counted", async (t) => {
    const { first, drift, cell } = await stage(
      t,
      '{"id":"i\\ud800","title":"a\\udc00b","status":{"x\\ud83d":"\\ud83d\\ude00"},"tags":["\\ud800"]}',
      '{"id":"i\\ud800","title":"a\\udc00b"}',
    );
    assert.deepEqual(
      first.items.map(({ id }) => id),
      ["i\ufffd"],
    );
    assert.equal(cell("content", "content_id"), "i\ufffd");
    assert.equal(cell("content", "title"), "a\ufffdb");
    assert.equal(cell("content", "status"), '{"x\ufffd":"\u{1f600}"}');
    assert.equal(cell("content_tags", "tag"), "\ufffd");
    assert.deepEqual(
      drift.filter(({ kind }) => kind === "unreadable").map(({ path, count }) => [path, count]),
      [
        ["id", 2],
        ["status.x\ufffd", 1],
        ["tags[]", 1],
        ["title", 2],
      ],
    );
  });

  test("are looked for only where an escape may be one", () => {
    for (const json of ['"plain"', '"\\ud83d\\ude00"', '"\u{1f600}"', '"\\u00e9"', '"\\\\ux"']) {
      assert.ok(!mayHaveLoneSurrogates(json), json);
    }
    for (const json of [
      '"\\ud83d"',
      '"\\ude00"',
      '"\\ud83dx\\ude00"',
      '"\\uD83D\\uD83D\\uDE00"',
      '"\\ude00\\ud83d"',
    ]) {
      assert.ok(mayHaveLoneSurrogates(json), json);
    }
    // A backslash that is data hides what follows it: such texts are looked at.
    assert.ok(mayHaveLoneSurrogates('"\\\\ud83d\\ude00"'));
  });

  test("are found wherever they stand, names that are special to JavaScript included", () => {
    const value: unknown = JSON.parse(
      '{"__proto__":["\\ud800"],"constructor\\udc00":{"a":[["\\udbff"]]},"ok":1}',
    );
    const found: string[] = [];
    const mended = replaceLoneSurrogates(value, (path) => found.push(path));
    assert.equal(
      JSON.stringify(mended),
      '{"__proto__":["\ufffd"],"ok":1,"constructor\ufffd":{"a":[["\ufffd"]]}}',
    );
    assert.deepEqual(found, ["__proto__[]", "constructor\ufffd.a[][]", "constructor\ufffd"]);
  });
});
