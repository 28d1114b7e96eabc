/** Copies files to a store and back, and checks their content. */
import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { WarehouseError } from "../../common/errors.ts";
import type { FileContent } from "./store.ts";

/** Writes all pieces at the file's position. Gives whether they have the stated content. */
export async function writeChecked(
  pieces: AsyncIterable<Uint8Array>,
  to: FileHandle,
  { bytes, sha256 }: FileContent,
): Promise<boolean> {
  const hash = createHash("sha256");
  let written = 0;
  for await (const piece of pieces) {
    hash.update(piece);
    await to.writeFile(piece);
    written += piece.length;
  }
  return written === bytes && hash.digest("hex") === sha256;
}

/** Creates a file, fills it and syncs it to disk. Removes it if that fails. */
export async function createFile(file: string, fill: (handle: FileHandle) => Promise<void>): Promise<void> {
  const handle = await open(file, "wx");
  try {
    await fill(handle);
    await handle.sync();
  } catch (thrown) {
    await handle.close();
    await rm(file, { force: true });
    throw thrown;
  }
  await handle.close();
}

/** A local file differs from its run's manifest. */
export function changedFile(file: string): WarehouseError {
  return new WarehouseError(
    "target.refused",
    `The file ${file} differs from its run's manifest, so it was not delivered; see "content-warehouse verify".`,
  );
}

/** An object differs from what was put. */
export function changedObject(address: string, key: string): WarehouseError {
  return new WarehouseError(
    "target.refused",
    `${key} in ${address} has another content than was delivered; somebody changed it: put back what was delivered, or remove it and run where its run is still published; ${OTHERWISE}.`,
  );
}

export function missingObject(address: string, key: string): WarehouseError {
  return new WarehouseError(
    "target.refused",
    `${key} is missing in ${address}; somebody removed it: put it back, or run where its run is still published; ${OTHERWISE}.`,
  );
}

const OTHERWISE =
  'only if neither is possible, remove the instance with "content-warehouse lake remove INSTANCE" and run again';
