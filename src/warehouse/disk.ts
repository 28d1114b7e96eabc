/** Whether a run has room: asked before the first request, not found out hours later. */

import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { WarehouseError } from "../common/errors.ts";
import { megabytes } from "../common/figures.ts";
import type { Baseline } from "./baseline.ts";

/** Bytes that this user may still write where a folder is; undefined where the file system does not say. */
export type FreeBytes = (folder: string) => Promise<number | undefined>;

export const freeBytes: FreeBytes = async (folder) => {
  const { bavail, bsize, blocks } = await statfs(folder);
  return blocks === 0 ? undefined : bavail * bsize;
};

/** A run takes so many times the highest that the one before took: content grows from night to night. */
const ROOM = 1.25;

/** What a run that is resumed took up before. */
export interface DiskUse {
  /** The highest; 0: it is a new run. */
  readonly peakBytes: number;
  /** What is still there of it. */
  readonly keptBytes: number;
}

export const NO_DISK_USE: DiskUse = { peakBytes: 0, keptBytes: 0 };

/** Bytes that a run may still take, by the most that it took before or the run before; undefined where neither tells. */
export function neededBytes(baseline: Baseline, { peakBytes, keptBytes }: DiskUse): number | undefined {
  const before = baseline.kind === "run" ? baseline.manifest.peakBytes : 0;
  const most = Math.max(before, peakBytes);
  return most === 0 ? undefined : Math.max(0, Math.ceil(ROOM * most) - keptBytes);
}

/** Throws `disk.full` where less is free than a run may still take. */
export async function assertDiskSpace(
  folder: string,
  baseline: Baseline,
  free: FreeBytes,
  taken: DiskUse = NO_DISK_USE,
): Promise<void> {
  const needed = neededBytes(baseline, taken);
  if (needed === undefined) return;
  const left = await free(folder);
  if (left === undefined || left >= needed) return;
  const room = `${megabytes(needed)}${taken.keptBytes > 0 ? " more" : ""}`;
  throw new WarehouseError(
    "disk.full",
    `${folder} has ${megabytes(left)} free, and a run may take ${room}; ${MAKE_ROOM}.`,
  );
}

const MAKE_ROOM = 'free space, remove old runs with "runs prune", or name another folder with --warehouse';

interface Full {
  readonly thrown: WarehouseError;
  readonly folder: string;
  readonly baseline: Baseline;
  readonly free: FreeBytes;
  /** By the run that failed. */
  readonly taken: DiskUse;
}

/** The failure of a run that the disk, or the limit of a file, had no room for, with how much is free and how much the run takes. */
export async function fullDisk({ thrown, folder, baseline, free, taken }: Full): Promise<WarehouseError> {
  const { keptBytes } = taken;
  const left = await free(folder);
  const [cause] = thrown.message.split("; ");
  const room = `${folder} has ${left === undefined ? "no room" : `${megabytes(left)} free`}`;
  const kept = keptBytes > 0 ? ` beside the ${megabytes(keptBytes)} that are kept of what was read` : "";
  const needed = megabytes(neededBytes(baseline, taken) ?? 0);
  const again = keptBytes > 0 ? ", and run again: it goes on from there" : ", and run again";
  const wayOut = cause?.includes("EFBIG") ? "raise its limit (ulimit -f)" : MAKE_ROOM;
  const sentence = `${cause}: ${room}${kept}, and the run may take ${needed}${keptBytes > 0 ? " more" : ""}; ${wayOut}${again}.`;
  return new WarehouseError("disk.full", sentence, { cause: thrown });
}

/**
 * Bytes that the files below a folder take up. A link to a file of another folder takes none. What is gone by the time,
 * or cannot be read, is not counted: this is no proof of anything.
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

/** Likewise of a file. */
export async function bytesOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  return found === undefined || found.nlink > 1 ? 0 : found.size;
}

const MEASURE_EVERY_MS = 2000;
/** Measuring takes no more than this share of the time. */
const MEASURE_SHARE = 0.01;

/** Measures a folder while a run writes to it: what a run takes at its highest is gone when it ends. */
export class PeakUse implements AsyncDisposable {
  /** The highest so far. */
  bytes: number;
  readonly #folder: string;
  readonly #stop = new AbortController();
  readonly #watching: Promise<void>;

  /** `before`: what was measured before the run was resumed. */
  constructor(folder: string, before: number) {
    this.#folder = folder;
    this.bytes = before;
    this.#watching = this.#watch();
  }

  async measure(): Promise<void> {
    this.bytes = Math.max(this.bytes, await bytesBelow(this.#folder));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    for (let pauseMs = MEASURE_EVERY_MS; !signal.aborted; ) {
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      const begunMs = performance.now();
      await this.measure();
      pauseMs = Math.max(MEASURE_EVERY_MS, (performance.now() - begunMs) / MEASURE_SHARE);
    }
  }
}
