/** What everything that asks the service shares while a run extracts. */
import type { Clock } from "../../common/clock.ts";
import type { OnProgress } from "../../common/progress.ts";
import type { Shape } from "../../raw/document.ts";
import type { ItemIndex } from "../../raw/item-index.ts";
import type { HttpClient } from "../http/client.ts";
import type { Journal } from "../landing/journal.ts";
import type { Landing } from "../landing/landing.ts";
import type { ItemVersions } from "./item-versions.ts";
import type { RejectLimits } from "./reject-limits.ts";

export interface ExtractContext {
  readonly client: HttpClient;
  readonly landing: Landing;
  readonly journal: Journal;
  readonly itemIndex: ItemIndex;
  readonly versions: ItemVersions;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly settings: {
    /** Of the dynamic set. */
    readonly columns: readonly string[];
    /** Those of the columns that only single-item requests give: all that such a request asks for. */
    readonly itemColumns: readonly string[];
    /** Shapes of which documents land: those of the listings that are read, in this order. One or both. */
    readonly shapes: readonly Shape[];
    /** Requests at the same time. */
    readonly concurrency: number;
    /** How many of the items that are asked for singly may be gone, or rejected; null: as the requests have it. */
    readonly singlesLimits: RejectLimits | null;
    /** Only so many items, the first that are listed; null: all. */
    readonly limit: number | null;
  };
  readonly onProgress: OnProgress;
}
