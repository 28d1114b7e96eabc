/** Progress of a run, as `onProgress` receives it. */

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
  /** Finished units: pages of listings, items for `items`, tables for `load`, units of the target for `deliver`. */
  readonly done: number;
  /** All units; `undefined` while unknown. */
  readonly total: number | undefined;
  /** Items listed so far. */
  readonly items: number;
  /** Bytes received in this stage so far, as sent. */
  readonly bytes: number;
  /** Rate limit of the service in requests per second; null or absent if there is none. */
  readonly perSecond?: number | null;
}

export type OnProgress = (progress: Progress) => void;
