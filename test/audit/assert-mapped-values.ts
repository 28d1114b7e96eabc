import assert from "node:assert/strict";
import type { MappedValue } from "../../src/audit/mapped-value.ts";

/** As many rows as expected, each with what is expected of it; columns that are not named may say anything. */
export function assertMappedValues(
  mappedValues: readonly MappedValue[],
  expected: readonly Partial<MappedValue>[],
): void {
  const named = mappedValues.map((row, place) => {
    const columns = Object.keys(expected[place] ?? {});
    return Object.fromEntries(Object.entries(row).filter(([column]) => columns.includes(column)));
  });
  assert.deepEqual(named, expected);
}
