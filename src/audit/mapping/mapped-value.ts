import { z } from "zod";
import { flag, integer } from "../rows.ts";

export const STATUSES = ["mapped", "unmapped", "unknown_value", "no_value_mapping"] as const;
export type Status = (typeof STATUSES)[number];

/** A row of `content_mapped_values`. */
export const mappedValueRow = z.object({
  contentId: z.string(),
  destinationId: z.string(),
  customFieldId: z.string(),
  ordinal: integer,
  externalFieldName: z.string().nullable(),
  valueId: z.string().nullable(),
  value: z.string().nullable(),
  mappingId: z.string(),
  mappingValueId: z.string().nullable(),
  externalValue: z.string().nullable(),
  status: z.enum(STATUSES),
  valueArchived: flag,
  valueUnknown: flag,
  ambiguous: flag,
  matchedByText: flag,
  destinationUnsupported: z.boolean().nullable(),
  collision: flag,
});
export type MappedValue = Readonly<z.output<typeof mappedValueRow>>;

/** Key of a value among those of an item. */
export function placeKey(row: Pick<MappedValue, "destinationId" | "customFieldId" | "ordinal">): string {
  return JSON.stringify([row.destinationId, row.customFieldId, row.ordinal]);
}
