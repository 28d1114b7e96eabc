import type { Origin } from "./declare.ts";

/** An API field that no column comes from, and why. */
export interface UnplacedField extends Origin {
  /** One sentence. */
  readonly reason: string;
}

export const UNPLACED: readonly UnplacedField[] = [
  {
    resource: "envelope",
    path: "count",
    reason:
      "Services disagree on whether it is the rows of the page or of the listing, so nothing is taken from it: rows are counted, and pagination.count is the total.",
  },
];
