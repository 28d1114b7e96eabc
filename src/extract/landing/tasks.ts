/** What threads are asked to do with answers, and what they answer: values that cross from thread to thread. */
import type { Shape } from "../../raw/document.ts";
import type { DriftEntry } from "../../raw/drift.ts";
import type { SavedDocument, WrittenFile } from "../../raw/raw-file.ts";
import type { IndexedFile } from "../../raw/raw-index.ts";
import type { Page } from "../pages/envelope.ts";

/** Body of one answer, as it came. */
export interface Body {
  readonly bytes: Uint8Array;
  readonly contentEncoding: string | null;
  /** Microseconds since 1970 UTC: the answer's `Date`. */
  readonly observedAt: number;
}

/** A page of a listing. */
export interface PageTask {
  readonly kind: "page";
  readonly mode: "dynamic" | "full" | "basic";
  /** Whether its documents land; of others only IDs and times are read. */
  readonly lands: boolean;
  /** From 1. */
  readonly pass: number;
  readonly group: number;
  /** From 1. */
  readonly page: number;
  /** Items of the page that come before those of the answer, where that is a part of it; 0 unless given. */
  readonly offset?: number;
  readonly body: Body;
}

/** The answer of a single-item request. */
export interface ItemTask {
  readonly kind: "item";
  readonly shape: Shape;
  /** Whether its document lands; of others only the time is read. */
  readonly lands: boolean;
  readonly pass: number;
  readonly group: number;
  /** Page on which the item was listed; with `position`, the place of the answer in the order of observation. */
  readonly page: number;
  readonly position: number;
  readonly contentId: string;
  /** Whether all configured columns were asked for. */
  readonly whole: boolean;
  readonly body: Body;
}

/** A group of answers, whose documents wait in one thread until they are written. */
export interface GroupKey {
  readonly pass: number;
  readonly group: number;
}

/** Writes what a group holds. */
export interface CloseTask extends GroupKey {
  readonly kind: "close";
  /** Absolute path of its raw file. */
  readonly rawFile: string;
}

/** Gives what a group holds so far, and goes on. */
export interface SaveTask extends GroupKey {
  readonly kind: "save";
}

/** Takes back what a group held when it was saved. */
export interface RestoreTask extends GroupKey {
  readonly kind: "restore";
  readonly landed: readonly SavedAnswer[];
}

/** Forgets the groups of a pass that are not closed: the pass is made anew. */
export interface DropTask {
  readonly kind: "drop";
  readonly pass: number;
}

/** Reads the index of a raw file that was written before. */
export interface IndexTask {
  readonly kind: "index";
  /** Absolute path. */
  readonly rawFile: string;
}

export type LandingTask = PageTask | ItemTask | CloseTask | SaveTask | RestoreTask | DropTask | IndexTask;

/** What each kind of task is answered with. */
export interface LandingResults {
  page: PageResult;
  item: ItemResult;
  close: GroupResult;
  save: readonly SavedAnswer[];
  restore: undefined;
  drop: undefined;
  index: IndexedFile;
}

/** What a single-item request asks for. */
export interface SingleKey {
  readonly id: string;
  readonly shape: Shape;
}

/** What an answer gave. */
export interface SavedAnswer {
  /** That the answer is, or that listed the item. */
  readonly page: number;
  /** Null: the answer is a page. */
  readonly single: SingleKey | null;
  readonly documents: readonly SavedDocument[];
  readonly drift: readonly DriftEntry[];
  /** Names of the custom fields that the documents carry. */
  readonly fieldNames: readonly string[];
}

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
  readonly pass: number;
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

export interface GroupResult {
  /** Undefined: the group has no documents, and so no raw file. */
  readonly file: WrittenFile | undefined;
  readonly indexed: IndexedFile;
  readonly drift: readonly DriftEntry[];
  /** Names of the custom fields that the documents carry. */
  readonly fieldNames: readonly string[];
}
