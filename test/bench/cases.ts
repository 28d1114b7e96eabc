/** What the bench service is like. */
export interface Case {
  readonly perPage: number;
  /** Bytes of each item's body; undefined: as it was generated. */
  readonly bodyBytes: number | undefined;
  /** Documents that the items are copies of. */
  readonly templates: number;
}

export const STANDARD: Case = { perPage: 100, bodyBytes: undefined, templates: 2000 };

export const CASES: Readonly<Record<string, Case>> = {
  /** Items of about 11 KB in the dynamic view, and as much in the full one; the service costs next to nothing. */
  standard: STANDARD,
  /** Pages of 2 MB. */
  "large-pages": { ...STANDARD, perPage: 200 },
  /** Items of 500 KB. */
  "large-items": { perPage: 4, bodyBytes: 480_000, templates: 100 },
};
