import type { Order } from "./pages.ts";

/** What the bench service is like. */
export interface Case {
  readonly perPage: number;
  /** Bytes of each item's body; undefined: as it was generated. */
  readonly bodyBytes: number | undefined;
  /** Documents that the items are copies of. */
  readonly templates: number;
  readonly order: Order;
  readonly delayMs: number;
  readonly perSecond: number | null;
}

const standard: Case = {
  perPage: 100,
  bodyBytes: undefined,
  templates: 2000,
  order: "created",
  delayMs: 0,
  perSecond: null,
};

export const CASES: Readonly<Record<string, Case>> = {
  /** Items of about 11 KB in the dynamic view, and as much in the full one; the service costs next to nothing. */
  standard,
  /** The service is the limit: 50 ms a page, 10 pages a second. */
  "slow-service": { ...standard, delayMs: 50, perSecond: 10 },
  /** The order of the listings has nothing to do with that of IDs. */
  scattered: { ...standard, order: "scattered" },
  /** Pages of 2 MB. */
  "large-pages": { ...standard, perPage: 200 },
  /** Items of 500 KB. */
  "large-items": { ...standard, perPage: 4, bodyBytes: 480_000, templates: 100 },
};
