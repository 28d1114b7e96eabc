/** What the requests of one extraction share. */
import type { Clock } from "../../common/clock.ts";
import type { OnProgress } from "../../common/progress.ts";
import type { Shape } from "../../raw/document.ts";
import type { RejectLimits } from "../../raw/extract-record.ts";
import type { ItemIndex } from "../../raw/item-index.ts";
import type { HttpClient } from "../http/client.ts";
import type { ItemResponse } from "../landing/checkpoint.ts";
import type { Journal } from "../landing/journal.ts";
import type { Landing } from "../landing/landing.ts";
import type { ItemVersions } from "./item-versions.ts";

export interface ExtractContext {
  readonly client: HttpClient;
  readonly landing: Landing;
  readonly journal: Journal;
  readonly itemIndex: ItemIndex;
  readonly versions: ItemVersions;
  /** Responses 404 and 410, by the item's ID, until a page lists the item. */
  readonly gone: Map<string, ItemResponse>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly settings: {
    /** Columns of the dynamic set. */
    readonly columns: readonly string[];
    /** The columns that only single-item requests return. */
    readonly itemColumns: readonly string[];
    /** Shapes whose documents land, one or both, in the order in which their listings are read. */
    readonly shapes: readonly Shape[];
    /** Requests at the same time. */
    readonly concurrency: number;
    /** The setting `maxRejects`; `null`: the defaults for single items. */
    readonly singlesLimits: RejectLimits | null;
    /** Read only this many items, the first of the list; `null`: all. */
    readonly limit: number | null;
  };
  readonly onProgress: OnProgress;
}
