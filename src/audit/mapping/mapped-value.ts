export const STATUSES = ["mapped", "unmapped", "unknown_value", "no_value_mapping"] as const;
export type Status = (typeof STATUSES)[number];

/** A row of `content_mapped_values`. */
export interface MappedValue {
  readonly contentId: string;
  readonly destinationId: string;
  readonly customFieldId: string;
  readonly ordinal: number;
  readonly externalFieldName: string | null;
  readonly valueId: string | null;
  readonly value: string | null;
  readonly mappingId: string;
  readonly mappingValueId: string | null;
  readonly externalValue: string | null;
  readonly status: Status;
  readonly valueArchived: boolean;
  readonly valueUnknown: boolean;
  readonly ambiguous: boolean;
  readonly matchedByText: boolean;
  readonly destinationUnsupported: boolean | null;
  readonly collision: boolean;
}
