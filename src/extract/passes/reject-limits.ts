/** The larger of the two: a share of what was listed, and a number of items. */
export interface RejectLimits {
  readonly share: number;
  readonly items: number;
}

/** How many of so many items may be rejected. */
export function rejectLimit(total: number, { share, items }: RejectLimits): number {
  return Math.max(items, Math.floor(total * share));
}
