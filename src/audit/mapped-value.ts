/** A mapped value: one value of an item at a destination. */
import { type AnswerRow, col } from "../common/answer.ts";

export const MAPPING_STATUSES = ["mapped", "unmapped", "unknown_value", "no_value_mapping"] as const;
export type MappingStatus = (typeof MAPPING_STATUSES)[number];

/** Kinds of missing values: the field has value mappings, but nothing is sent. `empty`: see {@link VALUE_KIND}. */
export const WITHOUT_EXTERNAL_VALUE = ["unmapped", "unknown_value", "empty"] as const;

/**
 * Kinds by which values are counted: the statuses, but a value with the status `mapped` whose entry has no external value,
 * or whose mapping has no external name, is `empty`.
 */
export const VALUE_KINDS = [...MAPPING_STATUSES, "empty"] as const;

/** SQL of the kind of a row of `content_mapped_values`. */
export const VALUE_KIND = `
  CASE
    WHEN status = 'mapped' AND (external_value IS NULL OR external_field_name IS NULL) THEN 'empty'
    ELSE status
  END`;

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
