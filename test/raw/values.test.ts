import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseExact } from "../../src/common/json.ts";
import { ExtraFields } from "../../src/raw/document.ts";
import { Drift } from "../../src/raw/drift.ts";
import {
  finerInstant,
  jsonText,
  readCell,
  secondsOfInstant,
  truncateToSecond,
} from "../../src/raw/values.ts";
import { type ColumnType, column, type WireFormat } from "../../src/tables/declare.ts";
import { either } from "../long.ts";
import fc from "../properties.ts";

/** The cell of a value, NULL where it does not fit, and the kinds of drift. */
function readAs(type: ColumnType, value: unknown, format: WireFormat = "plain") {
  const drift = new Drift();
  const declared = { ...column("c", type, { comment: "A column." }), format };
  const cell = readCell({ contentId: null, order: 0, drift }, declared, "c", value, new ExtraFields());
  return { cell, drift: drift.sorted().map(({ kind }) => kind) };
}

describe("the cell of an API value", () => {
  const cell = (type: ColumnType, json: string, format: WireFormat = "plain") => {
    const list = parseExact(`[${json}]`);
    return readAs(type, Array.isArray(list) ? list[0] : undefined, format).cell;
  };

  test("fits only a column of its type", () => {
    const fitting: Readonly<Record<string, readonly ColumnType[]>> = {
      '"text"': ["text"],
      '""': ["text"],
      true: ["boolean"],
      "12": ["integer", "bigint", "double"],
      "-0.5": ["double"],
      '"2026-01-01T00:00:00Z"': ["text", "timestamp"],
      '"01/31/26"': ["text", "date"],
      "[1]": [],
      '{"a":1}': [],
    };
    const types: readonly ColumnType[] = [
      "text",
      "boolean",
      "integer",
      "bigint",
      "double",
      "timestamp",
      "date",
    ];
    for (const [json, expected] of Object.entries(fitting)) {
      const found = types.filter((type) => cell(type, json) !== null);
      assert.deepEqual(found, expected, json);
    }
  });

  test("takes MM/DD/YY for a day of this century, if the calendar has it, and no other form", () => {
    for (const [text, day] of [
      ["07/04/26", "2026-07-04"],
      ["12/31/99", "2099-12-31"],
      ["01/01/00", "2000-01-01"],
      ["02/29/24", "2024-02-29"],
    ] as const)
      assert.equal(readAs("date", text).cell, Date.parse(day) / 86_400_000, text);
    const others = "02/29/26 02/30/26 13/01/26 00/01/26 01/00/26 7/4/26 07/04/2026 2026-07-04";
    for (const text of others.split(" ")) assert.equal(readAs("date", text).cell, null, text);
  });

  test("keeps numbers exactly, and takes none that its type cannot hold; whole seconds are instants where the wire says so", () => {
    const cases: readonly (readonly [ColumnType, json: string, ReturnType<typeof cell>, WireFormat?])[] = [
      ["bigint", "9007199254740993", 9_007_199_254_740_993n],
      ["bigint", "9223372036854775807", 9_223_372_036_854_775_807n],
      ["bigint", "-9223372036854775808", -9_223_372_036_854_775_808n],
      ...["9223372036854775808", "-9223372036854775809", "1.5", "1e400"].map(
        (json) => ["bigint", json, null] as const,
      ),
      ["integer", "2147483647", 2_147_483_647],
      ["integer", "-2147483648", -2_147_483_648],
      ...["2147483648", "0.5"].map((json) => ["integer", json, null] as const),
      ["double", "1e308", 1e308],
      ["double", "0.1", 0.1],
      ...["1e400", "-1e400"].map((json) => ["double", json, null] as const),
      ["timestamp", "1767225600", 1_767_225_600_000_000, "epoch_seconds"],
      ["timestamp", "0", 0, "epoch_seconds"],
      ["timestamp", "-62135596800", -62_135_596_800_000_000n, "epoch_seconds"],
      ...["-62135596801", "1.5", '"1767225600"'].map(
        (json) => ["timestamp", json, null, "epoch_seconds"] as const,
      ),
      ["timestamp", "1767225600", null],
    ];
    for (const [type, json, expected, format] of cases)
      assert.equal(cell(type, json, format), expected, `${type} ${json}`);
  });

  test("writes JSON as it came, digits included", () => {
    for (const json of ['{"a":12345678901234567890}', "[1e400,-1e-999]", '"é\\u0000"', "[[],{}]", "false"]) {
      assert.equal(jsonText(parseExact(json)), json);
      assert.equal(cell("json", json), json);
    }
  });
});

/** Microseconds of the same instant by another way. */
function micros(iso: string, fraction = 0): bigint {
  return BigInt(Date.parse(iso)) * 1000n + BigInt(fraction);
}

const read = (text: string): bigint | null => {
  const { cell } = readAs("timestamp", text);
  return cell === null ? null : BigInt(Number(cell) === cell ? cell : String(cell));
};

const hasSpecifiedForm = (text: string) => !readAs("timestamp", text).drift.includes("instant_form");

/** An instant as somebody writes it, in parts. */
interface Written {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  /** Undefined: the text has none. */
  readonly second: number | undefined;
  readonly fraction: string;
  /** Minutes; undefined: a Z. */
  readonly offset: number | undefined;
  readonly isLower: boolean;
}

const two = (number: number) => String(number).padStart(2, "0");

function textOf({ year, month, day, hour, minute, second, fraction, offset, isLower }: Written): string {
  const seconds = second === undefined ? "" : `:${two(second)}${fraction === "" ? "" : `.${fraction}`}`;
  const size = Math.abs(offset ?? 0);
  const sign = offset !== undefined && offset < 0 ? "-" : "+";
  const zone = offset === undefined ? "Z" : `${sign}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  const date = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
  const text = `${date}T${two(hour)}:${two(minute)}${seconds}${zone}`;
  return isLower ? text.toLowerCase() : text;
}

/** Days of the calendar that are counted one year and one month after the other, from the year 0 on. */
function daysBefore(year: number, month: number): bigint {
  const leap = (each: number) => (each % 4 === 0 && each % 100 !== 0) || each % 400 === 0;
  let days = 0n;
  for (let each = 0; each < year; each++) days += leap(each) ? 366n : 365n;
  const lengths = [31, leap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  for (const length of lengths.slice(0, month - 1)) days += BigInt(length);
  return days;
}

function microsOf({ year, month, day, hour, minute, second = 0, fraction, offset = 0 }: Written): bigint {
  const days = daysBefore(year, month) + BigInt(day) - 1n - daysBefore(1970, 1);
  const minutes = days * 1440n + BigInt(hour * 60 + minute - offset);
  return minutes * 60_000_000n + BigInt(second) * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, "0"));
}

const FIRST = micros("0001-01-01T00:00:00Z");
const LAST = micros("9999-12-31T23:59:59Z", 999_999);

const written: fc.Arbitrary<Written> = fc
  .record({
    year: fc.oneof(fc.integer({ min: 0, max: 9999 }), fc.constantFrom(0, 1, 4, 100, 1600, 1969, 2000, 9999)),
    month: fc.integer({ min: 1, max: 12 }),
    day: fc.integer({ min: 1, max: 28 }),
    hour: fc.integer({ min: 0, max: 23 }),
    minute: fc.integer({ min: 0, max: 59 }),
    second: fc.option(fc.integer({ min: 0, max: 59 }), { nil: undefined }),
    fraction: fc.stringMatching(/^\d{0,25}$/),
    offset: fc.option(fc.integer({ min: -1439, max: 1439 }), { nil: undefined }),
    isLower: fc.boolean(),
  })
  .map((each) => (each.second === undefined ? { ...each, fraction: "" } : each));

describe("an instant of RFC 3339", () => {
  test("is read in every form, as another way of counting has it, or lies outside of the years 1 to 9999", () => {
    fc.assert(
      fc.property(written, (each) => {
        const text = textOf(each);
        const expected = microsOf(each);
        assert.equal(read(text), expected < FIRST || expected > LAST ? null : expected, text);
      }),
      { numRuns: either(500, 2000) },
    );
  });

  test("is read at both ends of what Python has, and not beyond", () => {
    assert.equal(read("0001-01-01T00:00:00Z"), FIRST);
    assert.equal(read("0000-12-31T23:30:00-01:00"), micros("0001-01-01T00:30:00Z"));
    assert.equal(read("9999-12-31T23:59:59.9999999999Z"), LAST);
    for (const text of [
      "0000-12-31T23:59:59.999999Z",
      "0000-01-01T00:00:00Z",
      "0001-01-01T00:00:00+00:01",
      "9999-12-31T23:59:59-00:01",
    ])
      assert.equal(read(text), null, text);
  });

  test("rolls nothing over", () => {
    assert.notEqual(read("2024-02-29T00:00:00Z"), null);
    assert.notEqual(read("2000-02-29T00:00:00+14:00"), null);
    for (const text of [
      "2024-02-30T00:00:00Z",
      "2023-02-29T00:00:00Z",
      "1900-02-29T00:00:00Z",
      "2024-04-31T00:00:00Z",
      "2024-13-01T00:00:00Z",
      "2024-00-10T00:00:00Z",
      "2024-01-00T00:00:00Z",
      "2024-01-01T24:00:00Z",
      "2024-01-01T23:60:00Z",
      "2016-12-31T23:59:60Z",
      "2024-01-01T00:00:00+24:00",
      "2024-01-01T00:00:00-00:60",
    ])
      assert.equal(read(text), null, text);
  });

  test("is no other text", () => {
    for (const text of [
      "2024-01-01T00:00:00",
      "2024-01-01 00:00:00Z",
      "2024-01-01",
      "2024-01-01T00:00:00.Z",
      "2024-01-01T00:00.5Z",
      "2024-01-01T00:00:00,5Z",
      "2024-01-01T00:00:00+0200",
      "2024-01-01T00:00:00 +02:00",
      "2024-01-01T00:00:00\u221202:00",
      " 2024-01-01T00:00:00Z",
      "2024-01-01T00:00:00Z\n",
      "12024-01-01T00:00:00Z",
      "-2024-01-01T00:00:00Z",
      "٢٠٢٤-01-01T00:00:00Z",
      "",
    ])
      assert.equal(read(text), null, JSON.stringify(text));
  });

  test("has one form that is the specification's", () => {
    for (const text of ["2024-05-05T10:11:12Z", "2024-05-05T10:11:12.123456789012Z"])
      assert.equal(hasSpecifiedForm(text), true, text);
    for (const text of [
      "2024-05-05T10:11:12z",
      "2024-05-05t10:11:12Z",
      "2024-05-05T10:11Z",
      "2024-05-05T10:11:12+00:00",
      "2024-05-05T10:11-00:00",
    ])
      assert.equal(read(text) !== null && hasSpecifiedForm(text), false, text);
  });
});

describe("two instants", () => {
  test("that mean one second are one version, and the one with more digits is the finer", () => {
    const [plain, finer] = ["2024-05-05T10:11:12Z", "2024-05-05t15:41:12.5+05:30"];
    assert.equal(truncateToSecond(finer), plain);
    assert.equal(finerInstant(plain, finer), finer);
    assert.equal(finerInstant(finer, plain), finer);
    assert.equal(finerInstant(plain, "2024-05-05T10:11:12+00:00"), plain);
    assert.equal(finerInstant(plain, "2024-05-05T10:11:12+01:00"), undefined);
    fc.assert(
      fc.property(written, (each) => {
        const seconds = secondsOfInstant(textOf(each));
        if (seconds === undefined) return;
        assert.equal(secondsOfInstant(truncateToSecond(textOf(each))), seconds);
        assert.ok(hasSpecifiedForm(truncateToSecond(textOf(each))));
      }),
    );
  });

  test("that cannot be read are one version where they differ in the fraction alone", () => {
    assert.equal(truncateToSecond("0000-00-00T00:00:00.000Z"), truncateToSecond("0000-00-00T00:00:00Z"));
    assert.notEqual(
      truncateToSecond("Mon, 05 May 2024 10:11:12 GMT"),
      truncateToSecond("Mon, 05 May 2024 10:11:13 GMT"),
    );
  });
});
