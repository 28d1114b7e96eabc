/** Copies of files whose bytes are known: to a store and back. */
import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { WarehouseError } from "../../common/errors.ts";
import type { FileContent } from "./store.ts";

/** Writes all pieces at the file's position. Gives whether they are the content. */
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

/** Makes a new file, has it filled and brings it to the disk; what fails leaves none. */
export async function newFile(file: string, fill: (handle: FileHandle) => Promise<void>): Promise<void> {
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

/** A local file that is not what its run says. */
export function changedFile(file: string): WarehouseError {
  return new WarehouseError(
    "target.refused",
    `The file ${file} has another content than its run's manifest says, so it was not delivered; see "content-warehouse verify".`,
  );
}

/** An object that is not what was put there. */
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
  'only if neither can be done, take the instance out of the lake by "content-warehouse lake remove INSTANCE" and run again';
