/** Stores of objects by key, on a file system or in a bucket: what the lake is written to. */
import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { WarehouseError } from "../../common/errors.ts";
import { printable } from "../../common/printable.ts";
import { isRelativePath } from "../../common/relative-path.ts";

export interface StoredObject {
  /** Path below the store's address, with slashes: `content/_delta_log/00000000000000000000.json`. */
  readonly key: string;
  readonly bytes: number;
  /** Milliseconds since 1970, by the store's clock. */
  readonly modifiedMs: number;
}

export interface FileContent {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/**
 * A store. Keys are compared by their UTF-8 bytes. Every method throws a WarehouseError `target.*` whose message names the
 * store's address and never its credentials; temporary failures were retried first. A store is opened with a signal. Once
 * that is aborted, every call throws its reason, also calls that wait for an answer.
 */
export interface Store extends AsyncDisposable {
  /** `s3://bucket/prefix` or `file:///folder`, for messages. */
  readonly address: string;
  /** The bytes of an object; `null` if there is none. */
  get(key: string): Promise<Buffer | null>;
  /**
   * Puts an object only if there is none, in one step; `false` if there is one. If an answer was lost, that may be this very
   * object, so the caller compares it before it concludes that another writer was faster.
   */
  putNew(key: string, body: Uint8Array): Promise<boolean>;
  /** Puts an object, and replaces an existing one. */
  put(key: string, body: Uint8Array): Promise<void>;
  /** Puts a file, and replaces an existing object. The store checks what arrived. */
  upload(key: string, file: string, content: FileContent): Promise<void>;
  /** Writes an object into a new file and checks its bytes. */
  download(key: string, file: string, content: FileContent): Promise<void>;
  /** Objects whose keys begin with the prefix, in order of keys. `after`: exclusive. */
  list(prefix: string, options?: { readonly after?: string }): AsyncIterable<StoredObject>;
  /** Names of the folders below a prefix that ends with a slash, in order: `instance=a/` below `content/`. */
  folders(prefix: string): Promise<readonly string[]>;
  /** Removes objects. Missing objects are not an error. */
  remove(keys: readonly string[]): Promise<void>;
}

export function overwriteError(address: string): WarehouseError {
  return new WarehouseError(
    "target.refused",
    `${address} overwrites existing objects although it is asked not to (it ignores "If-None-Match: *"), so two deliveries could mix; use a store that honours it (docs/lake.md names some).`,
  );
}

/**
 * Throws `target.refused` for a key that a folder cannot hold, or that leads out of the store: logs of other programs may
 * name any path.
 */
export function checkKey(address: string, key: string): void {
  if (isRelativePath(key)) return;
  throw new WarehouseError(
    "target.refused",
    `"${printable(key)}" is not a key below ${address}; look for this path in a table's log that another program wrote.`,
  );
}

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

/** An object differs from what was put. `how`: clause. */
export function changedObject(
  address: string,
  key: string,
  how = "has another content than was delivered",
): WarehouseError {
  return new WarehouseError(
    "target.refused",
    `${key} in ${address} ${how}; somebody changed it: put back what was delivered, or remove it and run where its run is still published; ${OTHERWISE}.`,
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
