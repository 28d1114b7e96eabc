import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseExact } from "../../src/common/json.ts";
import { cellOf, jsonText, parseInstant, parseUsDate } from "../../src/raw/values.ts";
import type { ColumnType, WireFormat } from "../../src/tables/declare.ts";

/** Microseconds of the same instant by another way. */
function micros(iso: string, fraction = 0): bigint {
  return BigInt(Date.parse(iso)) * 1000n + BigInt(fraction);
}

describe("parseInstant", () => {
  test("reads instants to the microsecond, with any number of digits of a fraction", () => {
    const whole = micros("2026-03-01T09:30:12Z");
    for (const [text, fraction] of [
      ["2026-03-01T09:30:12Z", 0],
      ["2026-03-01T09:30:12.5Z", 500_000],
      ["2026-03-01T09:30:12.000Z", 0],
      ["2026-03-01T09:30:12.123456Z", 123_456],
      ["2026-03-01T09:30:12.000001Z", 1],
      ["2026-03-01T09:30:12.999999999Z", 999_999],
    ] as const) {
      assert.equal(BigInt(parseInstant(text) ?? "0"), whole + BigInt(fraction), text);
    }
  });

  test("C16: reads every year of four digits, exactly", () => {
    assert.equal(parseInstant("1970-01-01T00:00:00Z"), 0);
    assert.equal(parseInstant("1969-12-31T23:59:59.999999Z"), -1);
    for (const text of [
      "0000-01-01T00:00:00Z",
      "0001-01-01T00:00:00Z",
      "0099-12-31T23:59:59Z",
      "9999-12-31T23:59:59Z",
    ]) {
      assert.equal(BigInt(parseInstant(text) ?? "0"), micros(text), text);
    }
    const last = parseInstant("9999-12-31T23:59:59.999999Z");
    assert.equal(last, micros("9999-12-31T23:59:59Z", 999_999));
  });

  test("C16: reads leap days where there are some, and rolls nothing over", () => {
    assert.notEqual(parseInstant("2024-02-29T00:00:00Z"), undefined);
    assert.notEqual(parseInstant("2000-02-29T00:00:00Z"), undefined);
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
      "2024-06-30T23:59:60Z",
    ]) {
      assert.equal(parseInstant(text), undefined, text);
    }
  });

  test("C16: takes nothing but the form of the specification: UTC, with a T and a Z", () => {
    for (const text of [
      "2024-01-01T00:00:00+00:00",
      "2024-01-01T00:00:00+02:00",
      "2024-01-01T00:00:00",
      "2024-01-01 00:00:00Z",
      "2024-01-01T00:00Z",
      "2024-01-01",
      "2024-01-01t00:00:00z",
      "2024-01-01T00:00:00.Z",
      " 2024-01-01T00:00:00Z",
      "2024-01-01T00:00:00Z\n",
      "12024-01-01T00:00:00Z",
      "-2024-01-01T00:00:00Z",
      "٢٠٢٤-01-01T00:00:00Z",
      "last Tuesday",
      "",
    ]) {
      assert.equal(parseInstant(text), undefined, JSON.stringify(text));
    }
  });
});

describe("parseUsDate", () => {
  const day = (iso: string) => Date.parse(iso) / 86_400_000;

  test("takes MM/DD/YY for a day of this century", () => {
    assert.equal(parseUsDate("07/04/26"), day("2026-07-04"));
    assert.equal(parseUsDate("12/31/99"), day("2099-12-31"));
    assert.equal(parseUsDate("01/01/00"), day("2000-01-01"));
    assert.equal(parseUsDate("02/29/24"), day("2024-02-29"));
  });

  test("takes no day that the calendar does not have, and no other form", () => {
    for (const text of [
      "02/29/26",
      "02/30/26",
      "13/01/26",
      "00/01/26",
      "01/00/26",
      "7/4/26",
      "07/04/2026",
      "2026-07-04",
    ]) {
      assert.equal(parseUsDate(text), undefined, text);
    }
  });
});

describe("the cell of an API value", () => {
  const cell = (type: ColumnType, json: string, format: WireFormat = "plain") => {
    const list = parseExact(`[${json}]`);
    return cellOf({ type, format }, Array.isArray(list) ? list[0] : undefined);
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
      const found = types.filter((type) => cell(type, json) !== undefined);
      assert.deepEqual(found, expected, json);
    }
  });

  test("keeps integers of 64 bits exactly, and takes no larger ones", () => {
    assert.equal(cell("bigint", "9007199254740993"), 9_007_199_254_740_993n);
    assert.equal(cell("bigint", "9223372036854775807"), 9_223_372_036_854_775_807n);
    assert.equal(cell("bigint", "-9223372036854775808"), -9_223_372_036_854_775_808n);
    assert.equal(cell("bigint", "9223372036854775808"), undefined);
    assert.equal(cell("bigint", "-9223372036854775809"), undefined);
    assert.equal(cell("bigint", "1.5"), undefined);
    assert.equal(cell("bigint", "1e400"), undefined);
  });

  test("takes integers of 32 bits", () => {
    assert.equal(cell("integer", "2147483647"), 2_147_483_647);
    assert.equal(cell("integer", "-2147483648"), -2_147_483_648);
    assert.equal(cell("integer", "2147483648"), undefined);
    assert.equal(cell("integer", "0.5"), undefined);
  });

  test("takes no number for a double that it cannot hold", () => {
    assert.equal(cell("double", "1e400"), undefined);
    assert.equal(cell("double", "-1e400"), undefined);
    assert.equal(cell("double", "1e308"), 1e308);
    assert.equal(cell("double", "0.1"), 0.1);
  });

  test("takes whole seconds since 1970 for an instant where the wire writes them so", () => {
    assert.equal(cell("timestamp", "1767225600", "epoch_seconds"), 1_767_225_600_000_000);
    assert.equal(cell("timestamp", "0", "epoch_seconds"), 0);
    assert.equal(cell("timestamp", "1.5", "epoch_seconds"), undefined);
    assert.equal(cell("timestamp", '"1767225600"', "epoch_seconds"), undefined);
    assert.equal(cell("timestamp", "1767225600"), undefined);
  });

  test("writes JSON as it came, digits included", () => {
    for (const json of ['{"a":12345678901234567890}', "[1e400,-1e-999]", '"é\\u0000"', "[[],{}]", "false"]) {
      assert.equal(jsonText(parseExact(json)), json);
      assert.equal(cell("json", json), json);
    }
  });
});
