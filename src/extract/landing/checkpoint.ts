/**
 * Groups of answers as they are kept, so that a run that ended early can be resumed: of each group the raw file of its
 * documents and, written after it, a file with all else that was learned from its answers.
 */
import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { z } from "zod";
import { bytesOf, readSealed, writeSealed } from "../../common/sealed-file.ts";
import type { Shape } from "../../raw/document.ts";
import type { DriftEntry } from "../../raw/drift.ts";
import type { WrittenFile } from "../../raw/raw-file.ts";
import type { RequestRecord } from "../http/request-log.ts";
import type { PageResult, Reject } from "../pages/tasks.ts";

/** A page of a listing that was answered. */
export interface PageResponse {
  readonly page: number;
  readonly result: PageResult;
  /** One for each request that was answered: several where the page was read in parts. */
  readonly records: readonly RequestRecord[];
  /** Rejects of listed items that were asked for singly. */
  readonly rejects: readonly Reject[];
  /** IDs of listed items of which no answer gave a document. */
  readonly unread: readonly string[];
}

/** A single item that was asked for. */
export interface ItemResponse {
  readonly id: string;
  readonly shape: Shape;
  readonly gone: boolean;
  /** Null: the answer could not be read. */
  readonly read: { readonly updatedAt: string | null } | null;
  readonly rejects: readonly Reject[];
  /** Null: the service refused the request, or failed at it, or was not asked. */
  readonly record: RequestRecord | null;
  /** Whether the document of an earlier run stands in for an answer. */
  readonly isReused: boolean;
}

/** Of the pass that its pages are of. */
export interface PassStart {
  /** Items a page that were asked for. */
  readonly perPage: number;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
}

export interface Checkpoint<Answer> {
  readonly stage: string;
  readonly pass: number;
  readonly number: number;
  readonly passStart: PassStart | null;
  readonly answers: readonly Answer[];
  /** Of its documents; null where it has none. */
  readonly file: WrittenFile | null;
  readonly drift: readonly DriftEntry[];
  /** Names of the custom fields that the documents carry. */
  readonly fieldNames: readonly string[];
}

export interface CheckpointFile extends Pick<Checkpoint<unknown>, "stage" | "pass" | "number" | "passStart"> {
  /** Absolute path of its raw file, which is there only where it has documents. */
  readonly rawFile: string;
}

/** What is kept of a run that ended early. */
export interface ResumeState {
  readonly groups: readonly CheckpointFile[];
  /** Pages of listings. */
  readonly pages: number;
  /** Single items. */
  readonly items: number;
  /** Absolute paths of the files that it consists of. */
  readonly files: ReadonlySet<string>;
}

export const EMPTY_RESUME: ResumeState = { groups: [], pages: 0, items: 0, files: new Set() };

function folderOf(staging: string): string {
  return join(staging, "answers");
}

/** Absolute path of what is kept of a group besides its raw file. `staging`: the run's staging folder. */
export function checkpointPath(staging: string, rawFile: string): string {
  return join(folderOf(staging), `${basename(rawFile, ".parquet")}.json`);
}

export async function writeCheckpoint(
  staging: string,
  rawFile: string,
  group: Checkpoint<PageResponse | ItemResponse>,
): Promise<void> {
  await writeSealed(checkpointPath(staging, rawFile), { ...group, rawFile: relative(staging, rawFile) });
}

/** Undefined: the file is not as it was written. What is sealed has its form: the same program wrote it. */
export async function readCheckpoint<Answer>(
  file: string,
): Promise<(Checkpoint<Answer> & { readonly rawFile: string }) | undefined> {
  return readSealed(file, z.custom<Checkpoint<Answer> & { rawFile: string }>());
}

/** Whether anything is kept in a run's staging folder. */
export function hasCheckpoints(staging: string): boolean {
  return existsSync(folderOf(staging));
}

/** Proves what is kept in a run's staging folder. A group that is not as it was written counts as not there. */
export async function readResumeState(staging: string): Promise<ResumeState> {
  if (!hasCheckpoints(staging)) return EMPTY_RESUME;
  const groups: CheckpointFile[] = [];
  const files = new Set<string>();
  let pages = 0;
  let items = 0;
  // Beside them lies what a kill left half-written, under a temporary name.
  const names = (await readdir(folderOf(staging))).filter((name) => name.endsWith(".json"));
  for (const name of names.toSorted()) {
    const path = join(folderOf(staging), name);
    const group = await readCheckpoint<PageResponse | ItemResponse>(path);
    if (group === undefined) continue;
    const { stage, pass, number, passStart, answers, file } = group;
    const rawFile = join(staging, group.rawFile);
    if (file !== null && !(await isAsWritten(rawFile, file))) continue;
    groups.push({ stage, pass, number, passStart, rawFile });
    for (const each of file === null ? [path] : [path, rawFile]) files.add(each);
    if (passStart === null) items += answers.length;
    else pages += answers.length;
  }
  return { groups, pages, items, files };
}

async function isAsWritten(path: string, { bytes, sha256 }: WrittenFile): Promise<boolean> {
  const content = await bytesOf(path);
  return content?.length === bytes && hash("sha256", content) === sha256;
}
