/** Verdicts of runs. */

/** Verdicts of runs that read all items. Only these are delivered and reported to observers. */
export const FULL_VERDICTS = ["complete", "unsettled"] as const;

/** `limited`: the run read only its first items and is never `complete`. */
export const VERDICTS = [...FULL_VERDICTS, "limited"] as const;
export type Verdict = (typeof VERDICTS)[number];
