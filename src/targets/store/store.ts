/** Objects by key, on a file system or in a bucket: what the lake is written to. */
import { randomUUID } from "node:crypto";
import { WarehouseError } from "../../common/errors.ts";

export interface StoredObject {
  /** Below the store's address, with slashes: `content/_delta_log/00000000000000000000.json`. */
  readonly key: string;
  readonly bytes: number;
  /** By the store's clock, in milliseconds since 1970. */
  readonly modifiedMs: number;
}

export interface ListOptions {
  /** Only keys that come after this one, in the order of their UTF-8 bytes. */
  readonly after?: string;
}

/**
 * Keys are compared by their UTF-8 bytes. Every method throws a WarehouseError `target.*` with a sentence that names the
 * store's address, never its credentials; what may go away by itself was tried again first. A store is opened with a signal:
 * once that is aborted, every call throws its reason, those that wait for an answer at once.
 */
export interface Store extends AsyncDisposable {
  /** `s3://bucket/prefix` or `file:///folder`, for messages. */
  readonly address: string;
  /** The bytes of an object; null: there is none. */
  get(key: string): Promise<Buffer | null>;
  /**
   * Puts an object where there is none, at once and whole; false: there is one already. After an answer that was lost it
   * may be this very object, so whoever gets false reads it before calling it another's.
   */
  putNew(key: string, body: Uint8Array): Promise<boolean>;
  /** Puts an object, whatever is there. */
  put(key: string, body: Uint8Array): Promise<void>;
  /** Puts a file, whatever is there, in parts if it is large; the store checks what arrived. */
  upload(key: string, file: string, content: FileContent): Promise<void>;
  /** Writes an object into a new file and checks its bytes. */
  download(key: string, file: string, content: FileContent): Promise<void>;
  /** Objects whose key begins with the prefix, in order of their keys. */
  list(prefix: string, options?: ListOptions): AsyncIterable<StoredObject>;
  /** Folders below a prefix that ends with a slash, by name, in order: `instance=a/` of `content/`. */
  folders(prefix: string): Promise<readonly string[]>;
  /** Removes objects; those that are gone already are no failure. */
  remove(keys: readonly string[]): Promise<void>;
}

export interface FileContent {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/**
 * Puts one fresh key twice: only the first may succeed, and its bytes must be there. All that keeps deliveries apart rests
 * on that. Throws `target.refused` where the store overwrites.
 */
export async function verifyConditionalPut(store: Store): Promise<void> {
  const key = `_published/.probe-${randomUUID()}`;
  const [first, second] = [Buffer.from("first"), Buffer.from("second")];
  try {
    // After an answer that was lost the first put may be told to be there already; its bytes decide.
    await store.putNew(key, first);
    const isPutTwice = await store.putNew(key, second);
    const there = await store.get(key);
    if (isPutTwice || there === null || !there.equals(first)) throw overwriteError(store.address);
  } finally {
    await store.remove([key]);
  }
}

/** Of a store that ignores, or does not know, the condition of a put. */
export function overwriteError(address: string): WarehouseError {
  return new WarehouseError(
    "target.refused",
    `${address} overwrites objects that are to be put only where there is none (it ignores "If-None-Match: *"), so two deliveries could mix; use a store that honours it (docs/lake.md names some).`,
  );
}
