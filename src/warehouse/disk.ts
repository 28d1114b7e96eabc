/** Whether a run has room: asked before the first request, not found out hours later. */

import { statfs } from "node:fs/promises";
import { WarehouseError } from "../common/errors.ts";
import { megabytes } from "../common/figures.ts";
import type { Baseline } from "./baseline.ts";

/** Bytes that this user may still write where a folder is; undefined where the file system does not say. */
export type FreeBytes = (folder: string) => Promise<number | undefined>;

export const freeBytes: FreeBytes = async (folder) => {
  const { bavail, bsize, blocks } = await statfs(folder);
  return blocks === 0 ? undefined : bavail * bsize;
};

/** Staged parts, the finished files and the database while it is built, as a multiple of the run before. */
const ROOM = 3;

/** Bytes that the next run may take; undefined where no run before tells. */
export function roomNeeded(baseline: Baseline): number | undefined {
  if (baseline.kind !== "run") return undefined;
  return ROOM * baseline.manifest.files.reduce((sum, file) => sum + file.bytes, 0);
}

/** Throws `disk.io` where less is free than three times what the run before takes. */
export async function assertRoom(folder: string, baseline: Baseline, free: FreeBytes): Promise<void> {
  const needed = roomNeeded(baseline);
  if (baseline.kind !== "run" || needed === undefined) return;
  await assertFree(folder, needed, free, (room) => {
    return `a run may take ${room}, ${ROOM} times the run ${baseline.run}; free space, remove old runs with "runs prune", or name another folder with --warehouse`;
  });
}

/** Throws `disk.io` where less is free than is needed. `say`: what needs so much, and the way out. */
export async function assertFree(
  folder: string,
  needed: number,
  free: FreeBytes,
  say: (room: string) => string,
): Promise<void> {
  const left = await free(folder);
  if (left === undefined || left >= needed) return;
  throw new WarehouseError(
    "disk.io",
    `${folder} has ${megabytes(left)} free, and ${say(megabytes(needed))}.`,
  );
}
