/** Tasks of the threads that read responses, and their results: values that cross between threads. */
import type { Pagination } from "../../api/envelope.ts";
import type { Shape } from "../../raw/document.ts";
import type { DriftEntry } from "../../raw/drift.ts";
import type { WrittenFile } from "../../raw/raw-file.ts";
import type { FileIndex } from "../../raw/raw-index.ts";
import type { ListMode } from "../http/request.ts";

/** Body of a response as received, in a buffer of its own. */
export interface ResponseBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentEncoding: string | null;
  readonly contentType: string | null;
  /** `Date` of the response, in microseconds since 1970 UTC. */
  readonly observedAt: number;
  /** Whether the response had a `Date`; else `observedAt` is of this machine's clock. */
  readonly dated: boolean;
}

/** A listed document that is not an item, or a response that cannot be read. */
export interface Reject {
  readonly mode: string;
  readonly pass: number;
  readonly page: number;
  readonly position: number;
  readonly contentId: string | null;
  readonly reason: string;
  /** JSON text. */
  readonly document: string;
}

/** An item as a listing shows it. */
export interface ListEntry {
  readonly id: string;
  /** Position on the page, from 0. */
  readonly position: number;
  /** As `truncateToSecond`; `null` if the item has none. */
  readonly updatedAt: string | null;
  readonly event: boolean;
  /** Fingerprint of its dynamic document if it is requested singly; else blank. */
  readonly fingerprint: string;
}

/** Which items are requested singly after the dynamic listing. */
export type SingleItemScope = "events" | "all" | "none";

export function isInScope(scope: SingleItemScope, { event }: Pick<ListEntry, "event">): boolean {
  return scope === "all" || (scope === "events" && event);
}

export interface PageResult {
  readonly pagination: Pagination;
  readonly rows: number;
  readonly items: readonly ListEntry[];
  readonly rejects: readonly Reject[];
  readonly decodedBytes: number;
}

export interface PageTask {
  readonly kind: "page";
  /** From 1, as in the other tasks. */
  readonly pass: number;
  readonly mode: ListMode;
  /** Whether the documents land; else only IDs and times are read. */
  readonly lands: boolean;
  /** Documents of a unit are written together. The parts of a page are one unit. */
  readonly unit: number;
  /** From 1. */
  readonly page: number;
  /** Items before those of the response, if it is a part of a page; 0 by default. */
  readonly offset?: number;
  readonly body: ResponseBody;
}

export interface ItemTask {
  readonly kind: "item";
  readonly pass: number;
  readonly shape: Shape;
  /** Whether the document lands; else only the time is read. */
  readonly lands: boolean;
  readonly unit: number;
  /** Page that listed the item; with `position`, it orders the response among the observations. */
  readonly page: number;
  readonly position: number;
  readonly contentId: string;
  /** Whether all configured columns were requested. */
  readonly whole: boolean;
  /** A blank fingerprint means that no later run reuses the response. */
  readonly listed: Pick<ListEntry, "fingerprint">;
  readonly body: ResponseBody;
}

/** Documents of the run before that replace responses. */
export interface CopyTask {
  readonly kind: "copy";
  readonly pass: number;
  /** Absolute path of a raw file of `run`. */
  readonly rawFile: string;
  readonly run: string;
  readonly items: readonly (Pick<ItemTask, "contentId" | "page" | "position" | "unit"> & {
    readonly row: number;
  })[];
}

export type LandingTask =
  | PageTask
  | ItemTask
  | CopyTask
  /** Writes the documents of a group, in the order of their pages. `rawFile`: absolute path. */
  | { readonly kind: "write"; readonly units: readonly number[]; readonly rawFile: string };

export interface ItemResult {
  /** As in {@link ListEntry}; `undefined` if the response is a reject. */
  readonly updatedAt: ListEntry["updatedAt"] | undefined;
  readonly rejects: readonly Reject[];
}

export interface GroupResult {
  /** `null` if the group has no documents, and so no raw file. */
  readonly file: WrittenFile | null;
  readonly indexed: FileIndex | null;
  readonly drift: readonly DriftEntry[];
  /** Names of the custom fields that the documents hold. */
  readonly fieldNames: readonly string[];
  /** IDs of the instances that the documents name. */
  readonly instanceIds: readonly string[];
}
