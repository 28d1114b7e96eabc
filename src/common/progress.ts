/** What a run tells while it is under way; the command line shows it, a library user may. */

export type StageName =
  | "lookups"
  | "dynamic"
  | "items"
  | "full"
  | "basic"
  | "transform"
  | "load"
  | "publish"
  | "deliver";

export interface Progress {
  readonly stage: StageName;
  /** Units done and in all: pages for the listings, items for `items`, tables for `load`, those of the target for `deliver`. */
  readonly done: number;
  /** Undefined while it is not known. */
  readonly total: number | undefined;
  /** Items that the listing named so far. */
  readonly items: number;
  /** Bytes received so far in this stage, as they came. */
  readonly bytes: number;
  /** Requests a second to which the service holds the run; null or absent: it does not. */
  readonly perSecond?: number | null;
}

export type OnProgress = (progress: Progress) => void;
