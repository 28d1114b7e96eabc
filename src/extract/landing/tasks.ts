/** What threads are asked to do with answers, and what they answer: values that cross from thread to thread. */
import type { Shape } from "../../raw/document.ts";
import type { DriftEntry } from "../../raw/drift.ts";
import type { WrittenFile } from "../../raw/raw-file.ts";
import type { IndexedFile } from "../../raw/raw-index.ts";
import type { ListMode } from "../http/request.ts";
import type { ListedItem, Reject, SavedAnswer } from "./checkpoint-form.ts";

/** Body of one answer, as it came, in a buffer of its own. */
export interface Body {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentEncoding: string | null;
  /** Microseconds since 1970 UTC: the answer's `Date`. */
  readonly observedAt: number;
  /** Whether it has one; else it is this machine's clock. */
  readonly dated: boolean;
}

/** A group of answers, whose documents wait in one thread until they are written. */
export interface GroupKey {
  /** From 1. */
  readonly pass: number;
  readonly group: number;
}

export interface PageTask extends GroupKey {
  readonly kind: "page";
  readonly mode: ListMode;
  /** Whether its documents land; of others only IDs and times are read. */
  readonly lands: boolean;
  /** From 1. */
  readonly page: number;
  /** Items of the page that come before those of the answer, where that is a part of it; 0 unless given. */
  readonly offset?: number;
  readonly body: Body;
}

export interface ItemTask extends GroupKey {
  readonly kind: "item";
  readonly shape: Shape;
  /** Whether its document lands; of others only the time is read. */
  readonly lands: boolean;
  /** Page on which the item was listed; with `position`, the place of the answer in the order of observation. */
  readonly page: number;
  readonly position: number;
  readonly contentId: string;
  /** Whether all configured columns were asked for. */
  readonly whole: boolean;
  /** What the listing says of the item; blank fingerprint: the answer is not reused by a run to come. */
  readonly listed: Pick<ListedItem, "fingerprint">;
  readonly body: Body;
}

/** Documents of the run before that stand in for answers. */
export interface CopyTask extends GroupKey {
  readonly kind: "copy";
  /** Absolute path of the raw file that has them, and the run whose it is. */
  readonly rawFile: string;
  readonly run: string;
  readonly items: readonly (Pick<ItemTask, "contentId" | "page" | "position"> & { readonly row: number })[];
}

export type LandingTask =
  | PageTask
  | ItemTask
  | CopyTask
  /** Writes what a group holds. `rawFile`: absolute path. */
  | (GroupKey & { readonly kind: "close"; readonly rawFile: string })
  /** Gives what a group holds so far, and goes on. */
  | (GroupKey & { readonly kind: "save" })
  /** Takes back what a group held when it was saved. */
  | (GroupKey & { readonly kind: "restore"; readonly landed: readonly SavedAnswer[] })
  /** Forgets the groups of a pass that are not closed: the pass is made anew. */
  | { readonly kind: "drop"; readonly pass: number }
  /** Reads the index of a raw file that was written before. `rawFile`: absolute path. */
  | { readonly kind: "index"; readonly rawFile: string };

export type TaskOf<Kind extends LandingTask["kind"]> = Extract<LandingTask, { kind: Kind }>;

export interface ItemResult {
  /** As {@link ListedItem} has it; undefined: the answer was a reject. */
  readonly updatedAt: ListedItem["updatedAt"] | undefined;
  readonly rejects: readonly Reject[];
}

export interface GroupResult {
  /** Undefined: the group has no documents, and so no raw file. */
  readonly file: WrittenFile | undefined;
  readonly indexed: IndexedFile;
  readonly drift: readonly DriftEntry[];
  /** Names of the custom fields that the documents carry. */
  readonly fieldNames: readonly string[];
}
