/** Checks that the disk has room for a run before its first request. */

import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { WarehouseError } from "../common/errors.ts";
import { megabytes } from "../common/figures.ts";
import type { Baseline } from "./baseline.ts";

/** Bytes that this user may still write to the folder; `undefined` if the file system does not say. */
export async function freeBytes(folder: string): Promise<number | undefined> {
  const { bavail, bsize, blocks } = await statfs(folder);
  return blocks === 0 ? undefined : bavail * bsize;
}

/** A run may take this many times the peak of the run before, because content grows. */
const ROOM = 1.25;

/** Disk use of an interrupted run: its peak, and the bytes that are still there. Zeros for a new run. */
type DiskUse = Readonly<Record<"peakBytes" | "keptBytes", number>>;

const NO_DISK_USE: DiskUse = { peakBytes: 0, keptBytes: 0 };

/**
 * Bytes that a run may still take, from the peak of its first attempt or of the run before; `undefined` if both are
 * unknown.
 */
function neededBytes(baseline: Baseline, { peakBytes, keptBytes }: DiskUse): number | undefined {
  const before = baseline.kind === "run" ? baseline.manifest.peakBytes : 0;
  const most = Math.max(before, peakBytes);
  return most === 0 ? undefined : Math.max(0, Math.ceil(ROOM * most) - keptBytes);
}

/**
 * Throws `disk.full` if less is free than the run may still take. Returns both, in bytes; what is unknown is
 * `undefined`.
 */
export async function assertDiskSpace(
  folder: string,
  baseline: Baseline,
  free: typeof freeBytes,
  taken: DiskUse = NO_DISK_USE,
) {
  const needed = neededBytes(baseline, taken);
  const left = await free(folder);
  if (needed === undefined || left === undefined || left >= needed) return { left, needed };
  throw new WarehouseError("disk.full", `${roomText(folder, left, needed)}; ${MAKE_ROOM}.`);
}

const MAKE_ROOM = 'free space, remove old runs with "runs prune", or name another folder with --warehouse';

function roomText(folder: string, left: number | undefined, needed: number): string {
  const room = left === undefined ? "no room" : `${megabytes(left)} free`;
  return `${folder} has ${room}, and a run may take ${megabytes(needed)}`;
}

/** The error of a run that filled the disk or reached a file size limit, with the free and the needed bytes. */
export async function diskFullError(
  thrown: WarehouseError,
  folder: string,
  {
    baseline,
    free,
    taken,
  }: { readonly baseline: Baseline; readonly free: typeof freeBytes; readonly taken: DiskUse },
): Promise<WarehouseError> {
  const [cause = ""] = thrown.message.split("; ");
  const room = roomText(folder, await free(folder), neededBytes(baseline, taken) ?? 0);
  const wayOut = cause.includes("EFBIG") ? "raise its limit (ulimit -f)" : MAKE_ROOM;
  return new WarehouseError("disk.full", `${cause}: ${room}; ${wayOut}, and run again.`, { cause: thrown });
}

/**
 * Bytes of all files below a folder. Files with several hard links count as 0, and files that cannot be read are
 * skipped: this is an estimate.
 */
export async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    bytes += await (entry.isDirectory() ? bytesBelow(path) : bytesOf(path));
  }
  return bytes;
}

/** Bytes of a file, as in `bytesBelow`. */
export async function bytesOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  return found === undefined || found.nlink > 1 ? 0 : found.size;
}

const MEASURE_EVERY_MS = 5000;

/** Measures the peak disk use of a folder while a run writes to it. */
export class PeakUse implements Disposable {
  /** Highest use so far. */
  bytes: number;
  readonly #folder: string;
  readonly #timer = setInterval(() => void this.measure(), MEASURE_EVERY_MS).unref();

  /** `before`: peak before the run was resumed. */
  constructor(folder: string, before: number) {
    this.#folder = folder;
    this.bytes = before;
  }

  async measure(): Promise<void> {
    const bytes = await bytesBelow(this.#folder);
    this.bytes = Math.max(this.bytes, bytes);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
