/** What threads are asked to do with answers, and what they answer: values that cross from thread to thread. */
import type { Page } from "../extract/pages/envelope.ts";
import type { StagedPart } from "../load/parts.ts";
import type { DriftEntry } from "../raw/drift.ts";
import type { Sighting } from "../transform/entity-store.ts";
import type { Shape } from "../raw/document.ts";
import type { SavedAnswer } from "../extract/landing/checkpoint-form.ts";
import type { WrittenFile } from "../raw/raw-file.ts";

/** Body of one answer, as it came. */
export interface Body {
  readonly bytes: Uint8Array;
  readonly contentEncoding: string | null;
  /** Microseconds since 1970 UTC: the answer's `Date`. */
  readonly observedAt: number;
}

/** Where the other views of a group's items are likely to be: absolute paths of raw files. */
export interface PairedFiles {
  /** Of the other listing: an item that is not in it is not paired here. */
  readonly listed: string;
  /** Of single-item requests, for items of other groups, too. */
  readonly singles: readonly string[];
}

/** A page of a listing. With `pairWith`, items are transformed together with their views in those files. */
export interface PageTask {
  readonly kind: "page";
  readonly mode: "dynamic" | "full" | "basic";
  /** Whether its documents land; of others only IDs and times are read. */
  readonly lands: boolean;
  /** From 1. */
  readonly sweep: number;
  readonly group: number;
  /** Of the group. */
  readonly firstPage: number;
  /** From 1. */
  readonly page: number;
  /** Items of the page that come before those of the answer, where that is a part of it; 0 unless given. */
  readonly offset?: number;
  readonly pairWith: PairedFiles | undefined;
  readonly body: Body;
}

/** The answer of a single-item request. */
export interface ItemTask {
  readonly kind: "item";
  readonly shape: Shape;
  readonly sweep: number;
  readonly group: number;
  /** Page on which the item was listed; with `position`, the place of the answer in the order of observation. */
  readonly page: number;
  readonly position: number;
  readonly contentId: string;
  /** Whether all configured columns were asked for. */
  readonly whole: boolean;
  readonly body: Body;
}

/** Writes what a group holds. */
export interface CloseTask {
  readonly kind: "close";
  readonly sweep: number;
  readonly group: number;
  /** Name of the raw file below the staging folder. */
  readonly rawFile: string;
}

/** Gives what a group holds so far, and goes on. */
export interface SaveTask {
  readonly kind: "save";
  readonly sweep: number;
  readonly group: number;
}

/** Takes back what a group held when it was saved; transforms its items as reading its pages did. */
export interface RestoreTask {
  readonly kind: "restore";
  readonly sweep: number;
  readonly group: number;
  /** Of the group. */
  readonly firstPage: number;
  readonly pairWith: PairedFiles | undefined;
  /** Those of pages in the order of the pages. */
  readonly landed: readonly SavedAnswer[];
}

/** Lets go of what waits for its group to be closed: the pass is made anew. */
export interface DropTask {
  readonly kind: "drop";
  readonly sweep: number;
}

/** Transforms the items of a group whose documents were written before, together with the views in `pairWith`. */
export interface PairTask {
  readonly kind: "pair";
  readonly group: number;
  /** Name of the raw file below the staging folder. */
  readonly rawFile: string;
  readonly pairWith: PairedFiles;
}

/** Transforms the items of raw files, all views of an item being in them. */
export interface TransformTask {
  readonly kind: "transform";
  readonly rawFiles: readonly string[];
  readonly generation: number;
}

/** Writes out the rows that are held. */
export interface FlushTask {
  readonly kind: "flush";
}

export type StagingTask =
  | DropTask
  | PageTask
  | ItemTask
  | CloseTask
  | SaveTask
  | RestoreTask
  | PairTask
  | TransformTask
  | FlushTask;

export interface ItemResult {
  /** As {@link ListedItem} has it; undefined: the answer was a reject. */
  readonly updatedAt: string | null | undefined;
  readonly rejects: readonly Reject[];
}

/** An item as a listing shows it. */
export interface ListedItem {
  readonly id: string;
  /** On the page, from 0. */
  readonly position: number;
  /** `updated_at` to the second, as sent: its first 19 characters; null where there is none. */
  readonly updatedAt: string | null;
  readonly event: boolean;
}

export interface Reject {
  readonly mode: string;
  readonly sweep: number;
  readonly page: number;
  readonly position: number;
  readonly contentId: string | null;
  readonly reason: string;
  readonly document: string;
}

export interface PageResult {
  readonly answer: Pick<Page, "pagination">;
  readonly rows: number;
  readonly items: readonly ListedItem[];
  readonly rejects: readonly Reject[];
  readonly decodedBytes: number;
}

export interface PageReply {
  readonly result: PageResult;
  /** Items that were transformed: of this page, and of those after it that had come before it. */
  readonly transformed: readonly string[];
}

export interface GroupResult {
  /** Undefined: the group has no documents, and so no raw file. */
  readonly file: WrittenFile | undefined;
  /** Noted while the answers of the group were read; what the transform notes comes with the rows. */
  readonly drift: readonly DriftEntry[];
}

export interface TransformResult {
  readonly transformed: readonly string[];
}

export interface WrittenPart {
  readonly table: string;
  readonly part: StagedPart;
  /** Of its columns, before compression. */
  readonly bytes: number;
}

export interface FlushResult {
  readonly parts: readonly WrittenPart[];
  readonly sightings: readonly Sighting[];
  readonly drift: readonly DriftEntry[];
}
