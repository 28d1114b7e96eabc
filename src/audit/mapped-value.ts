/** A mapped value: one value of an item at a destination. */
import { type AnswerRow, col } from "../common/answer.ts";

export const MAPPING_STATUSES = ["mapped", "unmapped", "unknown_value", "no_value_mapping"] as const;
export type MappingStatus = (typeof MAPPING_STATUSES)[number];

/** Statuses without an external value: the field has value mappings, but none for the value. */
export const WITHOUT_EXTERNAL_VALUE = [
  "unmapped",
  "unknown_value",
] as const satisfies readonly MappingStatus[];

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
  status: col.text({ ...required, of: MAPPING_STATUSES }),
  valueArchived: col.flag(required),
  valueUnknown: col.flag(required),
  ambiguous: col.flag(required),
  matchedByText: col.flag(required),
  destinationUnsupported: col.flag(),
  collision: col.flag(required),
} as const;
export type MappedValue = AnswerRow<typeof MAPPED_VALUE>;
