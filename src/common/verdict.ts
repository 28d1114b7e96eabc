/** How whole a run is: `limited`, its first items alone, as `--limit` says, is never taken for `complete`. */
export const VERDICTS = ["complete", "unsettled", "limited"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Of a run that saw all items: others are never delivered. */
export type FullVerdict = Exclude<Verdict, "limited">;
