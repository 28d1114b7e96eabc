/** What threads are asked to do with answers, and what they answer: values that cross from thread to thread. */
import type { Pagination } from "../../api/envelope.ts";
import type { Shape } from "../../raw/document.ts";
import type { DriftEntry } from "../../raw/drift.ts";
import type { WrittenFile } from "../../raw/raw-file.ts";
import type { FileIndex } from "../../raw/raw-index.ts";
import type { ListMode } from "../http/request.ts";

/** Body of one answer, as it came, in a buffer of its own. */
export interface ResponseBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentEncoding: string | null;
  readonly contentType: string | null;
  /** Microseconds since 1970 UTC: the answer's `Date`. */
  readonly observedAt: number;
  /** Whether it has one; else it is this machine's clock. */
  readonly dated: boolean;
}

/** A document that is listed and is no item, or an answer that cannot be read. */
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
  /** On the page, from 0. */
  readonly position: number;
  /** To the second, as `toSecond` gives it; null where there is none. */
  readonly updatedAt: string | null;
  readonly event: boolean;
  /** Of its dynamic document, where it is to be asked for singly; else blank. */
  readonly fingerprint: string;
}

/** Which items are asked for singly after the dynamic listing. */
export type SingleItemScope = "events" | "all" | "none";

export function isInScope(scope: SingleItemScope, { event }: Pick<ListEntry, "event">): boolean {
  return scope === "all" || (scope === "events" && event);
}

export interface PageResult {
  readonly answer: { readonly pagination: Pagination };
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
  /** Whether its documents land; of others only IDs and times are read. */
  readonly lands: boolean;
  /** Documents of a unit are written together; those of parts of a page are of one. */
  readonly unit: number;
  /** From 1. */
  readonly page: number;
  /** Items of the page that come before those of the answer, where that is a part of it; 0 unless given. */
  readonly offset?: number;
  readonly body: ResponseBody;
}

export interface ItemTask {
  readonly kind: "item";
  readonly pass: number;
  readonly shape: Shape;
  /** Whether its document lands; of others only the time is read. */
  readonly lands: boolean;
  readonly unit: number;
  /** Page on which the item was listed; with `position`, the place of the answer in the order of observation. */
  readonly page: number;
  readonly position: number;
  readonly contentId: string;
  /** Whether all configured columns were asked for. */
  readonly whole: boolean;
  /** What the listing says of the item; blank fingerprint: the answer is not reused by a run to come. */
  readonly listed: Pick<ListEntry, "fingerprint">;
  readonly body: ResponseBody;
}

/** Documents of the run before that stand in for answers. */
export interface CopyTask {
  readonly kind: "copy";
  readonly pass: number;
  /** Absolute path of the raw file that has them, and the run whose it is. */
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
  /** Writes the documents of a group of answers, in the order of their pages. `rawFile`: absolute path. */
  | { readonly kind: "write"; readonly units: readonly number[]; readonly rawFile: string }
  /** Forgets all that is not written: the pass is made anew. */
  | { readonly kind: "drop" };

export type LandingTaskOf<Kind extends LandingTask["kind"]> = Extract<LandingTask, { kind: Kind }>;

export interface ItemResult {
  /** As {@link ListEntry} has it; undefined: the answer was a reject. */
  readonly updatedAt: ListEntry["updatedAt"] | undefined;
  readonly rejects: readonly Reject[];
}

export interface GroupResult {
  /** Null: the group has no documents, and so no raw file. */
  readonly file: WrittenFile | null;
  readonly indexed: FileIndex | null;
  readonly drift: readonly DriftEntry[];
  /** Names of the custom fields that the documents carry. */
  readonly fieldNames: readonly string[];
}
