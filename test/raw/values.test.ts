import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseExact } from "../../src/common/json.ts";
import { jsonText, parseUsDate, toCell } from "../../src/raw/values.ts";
import type { ColumnType, WireFormat } from "../../src/tables/declare.ts";

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
    return toCell({ type, format }, Array.isArray(list) ? list[0] : undefined);
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
    assert.equal(cell("timestamp", "-62135596800", "epoch_seconds"), -62_135_596_800_000_000n);
    assert.equal(cell("timestamp", "-62135596801", "epoch_seconds"), undefined);
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
