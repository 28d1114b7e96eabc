/** A value of an item at a destination, and the payload that such values make. */
import { col, type RowOf } from "../../common/answer.ts";
import { compareUtf8 } from "../../common/utf8-order.ts";
import { quoteLiteral } from "../../storage/sql-text.ts";

export const STATUSES = ["mapped", "unmapped", "unknown_value", "no_value_mapping"] as const;
export type Status = (typeof STATUSES)[number];

/** Statuses without an external value: the field has value mappings, and the destination gets none for the value. */
export const WITHOUT_EXTERNAL_VALUE = ["unmapped", "unknown_value"] as const satisfies readonly Status[];

/** The same for SQL: `status IN (${WITHOUT_EXTERNAL_VALUE_SQL})`. */
export const WITHOUT_EXTERNAL_VALUE_SQL = WITHOUT_EXTERNAL_VALUE.map(quoteLiteral).join(", ");

const required = { required: true } as const;

/** A row of `content_mapped_values`. */
export const MAPPED_VALUE = {
  contentId: col.text(required),
  destinationId: col.text(required),
  customFieldId: col.text(required),
  ordinal: col.count(required),
  externalFieldName: col.text(),
  valueId: col.text(),
  value: col.text(),
  mappingId: col.text(required),
  mappingValueId: col.text(),
  externalValue: col.text(),
  status: col.text({ ...required, of: STATUSES }),
  valueArchived: col.flag(required),
  valueUnknown: col.flag(required),
  ambiguous: col.flag(required),
  matchedByText: col.flag(required),
  destinationUnsupported: col.flag(),
  collision: col.flag(required),
} as const;
export type MappedValue = RowOf<typeof MAPPED_VALUE>;

/** Where a value stands among those of an item. */
export type ValuePlace = Pick<MappedValue, "destinationId" | "customFieldId" | "ordinal">;

export function placeKey({ destinationId, customFieldId, ordinal }: ValuePlace): string {
  return JSON.stringify([destinationId, customFieldId, ordinal]);
}

/** Values by external field name, in ascending order of the bytes of the names; never empty where it is sent. */
export type Members = ReadonlyMap<string, readonly string[]>;
/** Members of payloads by destination ID. */
export type Payloads = ReadonlyMap<string, Members>;

/**
 * Rule 7: the external field name as key, always a list. `rows` are those of one item at one destination, in ledger
 * order: values come in ascending order of custom field ID, then in source order. An entry without an external value,
 * or a mapping without a name, sends nothing. `passthrough`: a field without value mappings sends its values as they
 * are.
 */
export function payloadMembers(rows: readonly MappedValue[], passthrough: boolean): Members {
  const sent = rows.flatMap((row) => {
    const [name, value] = [row.externalFieldName, sentValue(row, passthrough)];
    return name === null || value === null ? [] : [{ name, value }];
  });
  return new Map(
    [...Map.groupBy(sent, ({ name }) => name)]
      .sort(([a], [b]) => compareUtf8(a, b))
      .map(([name, some]) => [name, some.map(({ value }) => value)]),
  );
}

type Sendable = Pick<MappedValue, "status" | "externalFieldName" | "externalValue" | "value">;

/** Whether the destination is sent a value for it. */
export function isSent(row: Sendable, passthrough: boolean): boolean {
  return row.externalFieldName !== null && sentValue(row, passthrough) !== null;
}

function sentValue(row: Sendable, passthrough: boolean): string | null {
  if (row.status === "mapped") return row.externalValue;
  return row.status === "no_value_mapping" && passthrough ? row.value : null;
}

/** What becomes of a value of a field without value mappings, in a heading. */
export function withoutValueMapping(passthrough: boolean): string {
  return `${sentOrNot(passthrough)} (no value mapping)`;
}

/** The same, where there is little room. */
export function sentOrNot(passthrough: boolean): string {
  return passthrough ? "sent as is" : "not sent";
}
