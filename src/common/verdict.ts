/** Of a run that reads all items: no other is delivered, and observers are told of no other. */
export const FULL_VERDICTS = ["complete", "unsettled"] as const;
export type FullVerdict = (typeof FULL_VERDICTS)[number];

/** How whole a run is. `limited`: it reads its first items alone, and is never taken for `complete`. */
export const VERDICTS = [...FULL_VERDICTS, "limited"] as const;
export type Verdict = (typeof VERDICTS)[number];
