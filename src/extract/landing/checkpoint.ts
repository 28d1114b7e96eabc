/**
 * Checkpoints, from which an interrupted run resumes. A group of responses has a raw file with its documents and a
 * checkpoint, written after it, with everything else that its responses said.
 */
import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { z } from "zod";
import { WarehouseError } from "../../common/errors.ts";
import { printable } from "../../common/printable.ts";
import { isRelativePath, linkInTheWay } from "../../common/relative-path.ts";
import { bytesOf, readSealed, writeSealed } from "../../common/sealed-file.ts";
import type { Shape } from "../../raw/document.ts";
import type { DriftEntry } from "../../raw/drift.ts";
import type { WrittenFile } from "../../raw/raw-file.ts";
import type { PageResult, Reject } from "../pages/tasks.ts";
import type { RequestRecord } from "./journal.ts";

/** A page of a listing that was read. */
export interface PageResponse {
  readonly page: number;
  readonly result: PageResult;
  /** One for each request that was answered: several where the page was read in parts. */
  readonly records: readonly RequestRecord[];
  /** Rejects of listed items that were requested singly. */
  readonly rejects: readonly Reject[];
  /** IDs of listed items without a document in any response. */
  readonly unread: readonly string[];
}

/** The response to a request for a single item. */
export interface ItemResponse {
  readonly id: string;
  readonly shape: Shape;
  readonly gone: boolean;
  /** As in `ListEntry`; `undefined`: the response could not be read. */
  readonly updatedAt?: string | null | undefined;
  readonly rejects: readonly Reject[];
  /** `null`: the request failed, or a document of an earlier run is used instead of a request. */
  readonly record: RequestRecord | null;
}

interface PassStart {
  /** Requested items a page. */
  readonly perPage: number;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
}

interface Checkpoint<Response> {
  readonly stage: string;
  readonly pass: number;
  readonly number: number;
  readonly passStart: PassStart | null;
  readonly responses: readonly Response[];
  /** The raw file; `null` without documents. */
  readonly file: WrittenFile | null;
  readonly drift: readonly DriftEntry[];
  /** Names of the custom fields in the documents. */
  readonly fieldNames: readonly string[];
}

interface CheckpointFile extends Pick<Checkpoint<unknown>, "stage" | "pass" | "number" | "passStart"> {
  /** Absolute path of the raw file, which exists if there are documents. */
  readonly rawFile: string;
}

/** The checkpoints of an interrupted run. */
export interface ResumeState {
  readonly groups: readonly CheckpointFile[];
  /** Pages of listings in the checkpoints. */
  readonly pages: number;
  /** Single items in the checkpoints. */
  readonly items: number;
  /** Absolute paths of checkpoints and raw files. */
  readonly files: ReadonlySet<string>;
}

export const EMPTY_RESUME: ResumeState = { groups: [], pages: 0, items: 0, files: new Set() };

function folderOf(staging: string): string {
  return join(staging, "answers");
}

/** Absolute path of the checkpoint that belongs to a raw file. `staging`: the run's staging folder. */
function checkpointPath(staging: string, rawFile: string): string {
  return join(folderOf(staging), `${basename(rawFile, ".parquet")}.json`);
}

export async function writeCheckpoint(
  staging: string,
  rawFile: string,
  group: Checkpoint<PageResponse | ItemResponse>,
): Promise<void> {
  await writeSealed(checkpointPath(staging, rawFile), { ...group, rawFile: relative(staging, rawFile) });
}

/** `undefined` if the file is not as it was written. Sealed files need no check of their form. */
async function readIn<Response>(file: string) {
  return readSealed(file, z.custom<Checkpoint<Response> & { readonly rawFile: string }>());
}

/** Reads a checkpoint that {@link readResumeState} found. */
export async function readCheckpoint<Response>(
  staging: string,
  rawFile: string,
): Promise<Checkpoint<Response>> {
  const group = await readIn<Response>(checkpointPath(staging, rawFile));
  if (group === undefined) throw new TypeError(`the checkpoint of ${rawFile} is gone`);
  return group;
}

/** Whether a run's staging folder has checkpoints. */
export function hasCheckpoints(staging: string): boolean {
  return existsSync(folderOf(staging));
}

/**
 * Reads and verifies the checkpoints in a run's staging folder. A group that differs from what was written is ignored. Throws
 * `verify.failed` for a raw file outside of the folder.
 */
export async function readResumeState(staging: string): Promise<ResumeState> {
  if (!hasCheckpoints(staging)) return EMPTY_RESUME;
  const groups: CheckpointFile[] = [];
  const files = new Set<string>();
  let pages = 0;
  let items = 0;
  // A kill may leave files with temporary names.
  const names = (await readdir(folderOf(staging))).filter((name) => name.endsWith(".json"));
  for (const name of names.toSorted()) {
    const path = join(folderOf(staging), name);
    const group = await readIn<PageResponse | ItemResponse>(path);
    if (group === undefined) continue;
    const { stage, pass, number, passStart, responses, file } = group;
    const rawFile = await pathOf(staging, group.rawFile, path);
    const content = file && (await bytesOf(rawFile));
    if (file && (content?.length !== file.bytes || hash("sha256", content) !== file.sha256)) continue;
    groups.push({ stage, pass, number, passStart, rawFile });
    for (const each of file === null ? [path] : [path, rawFile]) files.add(each);
    if (passStart === null) items += responses.length;
    else pages += responses.length;
  }
  return { groups, pages, items, files };
}

/** Absolute path of a raw file that a checkpoint names. A symbolic link is not followed. */
async function pathOf(staging: string, rawFile: string, checkpoint: string): Promise<string> {
  const path = join(staging, rawFile);
  const below = `${basename(staging)}/${rawFile}`;
  if (isRelativePath(rawFile) && (await linkInTheWay(dirname(staging), below)) === undefined) return path;
  throw new WarehouseError(
    "verify.failed",
    `The checkpoint ${checkpoint} names the raw file "${printable(rawFile, 1000)}", which leads out of ${staging}; remove that folder, and run again.`,
  );
}
