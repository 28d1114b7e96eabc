/** A store in a folder, for one machine or a shared file system. */
import { randomUUID } from "node:crypto";
import type { Dirent } from "node:fs";
import {
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rmdir,
  stat,
  unlink,
} from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { codeOf, WarehouseError } from "../../common/errors.ts";
import { sync } from "../../common/tree.ts";
import { compareUtf8 } from "../../common/utf8-order.ts";
import { checkKey } from "./address.ts";
import { changedFile, changedObject, missingObject, newFile, writeChecked } from "./checked-copy.ts";
import type { FileContent, ListOptions, Store, StoredObject } from "./store.ts";

/** Where objects are written before they get their name: in the store itself, since names do not cross file systems. */
const TEMPORARY = ".tmp";
/** What a process that was killed leaves there is removed by one that comes later. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;

const PIECE_BYTES = 1024 * 1024;

export function openFileStore(folder: string, signal: AbortSignal): Store {
  return new FileStore(folder, signal);
}

/**
 * Objects are files. Each is written under a temporary name, brought to the disk, and then named in one step: by a hard
 * link, which never replaces, or by rename. A folder that is missing is an empty one.
 */
class FileStore implements Store {
  readonly address: string;
  readonly #folder: string;
  readonly #home: string;
  readonly #signal: AbortSignal;
  #isSwept = false;

  constructor(folder: string, signal: AbortSignal) {
    this.address = pathToFileURL(folder).href;
    this.#folder = folder;
    this.#home = join(folder, TEMPORARY);
    this.#signal = signal;
  }

  get(key: string): Promise<Buffer | null> {
    return this.#told(() => orNull(readFile(this.#pathOf(key))));
  }

  putNew(key: string, body: Uint8Array): Promise<boolean> {
    return this.#told(async () => {
      try {
        await this.#place(key, (handle) => handle.writeFile(body), link);
        return true;
      } catch (thrown) {
        if (codeOf(thrown) === "EEXIST") return false;
        throw thrown;
      }
    });
  }

  put(key: string, body: Uint8Array): Promise<void> {
    return this.#told(() => this.#place(key, (handle) => handle.writeFile(body), rename));
  }

  async upload(key: string, file: string, content: FileContent): Promise<void> {
    await using source = await open(file);
    const copy = async (handle: FileHandle) => {
      if (!(await writeChecked(pieces(source, this.#signal), handle, content))) throw changedFile(file);
    };
    await this.#told(() => this.#place(key, copy, rename));
  }

  async download(key: string, file: string, content: FileContent): Promise<void> {
    const source = await this.#told(() => orNull(open(this.#pathOf(key))));
    if (source === null) throw missingObject(this.address, key);
    await using _ = source;
    await newFile(file, async (handle) => {
      if (!(await writeChecked(pieces(source, this.#signal), handle, content)))
        throw changedObject(this.address, key);
    });
  }

  async *list(prefix: string, options?: ListOptions): AsyncGenerator<StoredObject> {
    try {
      this.#signal.throwIfAborted();
      for await (const object of objectsBelow(this.#folder, "", { prefix, ...options })) {
        yield object;
        this.#signal.throwIfAborted();
      }
    } catch (thrown) {
      throw toldError(this.address, thrown);
    }
  }

  folders(prefix: string): Promise<string[]> {
    return this.#told(async () => {
      const entries = await entriesOf(join(this.#folder, prefix));
      return entries.filter((entry) => entry.isDirectory()).map((entry) => `${entry.name}/`);
    });
  }

  remove(keys: readonly string[]): Promise<void> {
    return this.#told(async () => {
      const paths = keys.map((key) => this.#pathOf(key));
      for (const path of paths) await orNull(unlink(path));
      for (const parent of new Set(paths.map((path) => dirname(path))))
        await removeEmpty(parent, this.#folder);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #pathOf(key: string): string {
    checkKey(this.address, key);
    return join(this.#folder, key);
  }

  /** Names what `fill` has written. */
  async #place(
    key: string,
    fill: (handle: FileHandle) => Promise<void>,
    name: (from: string, to: string) => Promise<void>,
  ): Promise<void> {
    const path = this.#pathOf(key);
    const written = join(this.#home, randomUUID());
    await inFolder(this.#home, () => newFile(written, fill));
    try {
      if (!this.#isSwept) await removeAbandoned(this.#home, (await stat(written)).mtimeMs - ABANDONED_MS);
      this.#isSwept = true;
      await inFolder(dirname(path), () => name(written, path));
    } finally {
      await orNull(unlink(written));
    }
    // Without its folder it was removed since.
    await orNull(sync(dirname(path)));
  }

  async #told<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      this.#signal.throwIfAborted();
      return await work();
    } catch (thrown) {
      throw toldError(this.address, thrown);
    }
  }
}

/** From where the file is read until its end; whoever opened it closes it. */
async function* pieces(file: FileHandle, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const piece of file.createReadStream({ autoClose: false, highWaterMark: PIECE_BYTES })) {
    signal.throwIfAborted();
    yield piece;
  }
}

/** By the file system's clock, which may be another machine's. */
async function removeAbandoned(home: string, beforeMs: number): Promise<void> {
  for (const name of await readdir(home)) {
    const path = join(home, name);
    const found = await orNull(stat(path));
    if (found !== null && found.mtimeMs < beforeMs) await orNull(unlink(path));
  }
}

/** How often a folder is made again that somebody removes as an empty one at the same time. */
const MAX_FOLDER_ATTEMPTS = 20;

/** Does something in a folder, which is made where it is missing. */
async function inFolder(folder: string, work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      if (attempt > 1) await makeFolder(folder);
      await work();
      return;
    } catch (thrown) {
      if (codeOf(thrown) !== "ENOENT" || attempt === MAX_FOLDER_ATTEMPTS) throw thrown;
    }
  }
}

/** With those that it lies in. Node's own way of that says ENOENT of a file system that is read-only. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await makeLastFolder(folder);
  } catch (thrown) {
    if (codeOf(thrown) !== "ENOENT") throw thrown;
    await makeFolder(dirname(folder));
    await makeLastFolder(folder);
  }
}

/** It stays: its entry is brought to the disk too. */
async function makeLastFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (thrown) {
    if (codeOf(thrown) === "EEXIST") return;
    throw thrown;
  }
  await orNull(sync(dirname(folder)));
}

async function removeEmpty(folder: string, root: string): Promise<void> {
  for (let empty = folder; empty.startsWith(root + sep); empty = dirname(empty)) {
    try {
      await rmdir(empty);
    } catch (thrown) {
      if (codeOf(thrown) === "ENOENT") continue;
      return;
    }
  }
}

interface Wanted extends ListOptions {
  readonly prefix: string;
}

/** A folder's entries are walked in the order of whole keys: `a/x` comes after `a-b`, because `/` comes after `-`. */
async function* objectsBelow(root: string, folder: string, wanted: Wanted): AsyncGenerator<StoredObject> {
  for (const entry of await entriesOf(join(root, folder))) {
    const key = folder + entry.name;
    if (entry.isDirectory()) {
      if (mayHold(`${key}/`, wanted)) yield* objectsBelow(root, `${key}/`, wanted);
    } else if (wanted.prefix.startsWith(`${key}/`)) {
      // Whoever puts an object there would fail so: ENOTDIR.
      await readdir(join(root, key));
    } else if (key.startsWith(wanted.prefix) && isAfter(key, wanted.after)) {
      const found = await orNull(stat(join(root, key)));
      if (found !== null) yield { key, bytes: found.size, modifiedMs: found.mtimeMs };
    }
  }
}

function mayHold(folder: string, { prefix, after }: Wanted): boolean {
  const isOnTheWay = folder.startsWith(prefix) || prefix.startsWith(folder);
  return isOnTheWay && (isAfter(folder, after) || (after?.startsWith(folder) ?? false));
}

function isAfter(key: string, after: string | undefined): boolean {
  return after === undefined || compareUtf8(key, after) > 0;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  const entries = (await orNull(readdir(folder, { withFileTypes: true }))) ?? [];
  const nameOf = (entry: Dirent) => (entry.isDirectory() ? `${entry.name}/` : entry.name);
  return entries
    .filter(({ name }) => name !== TEMPORARY)
    .toSorted((a, b) => compareUtf8(nameOf(a), nameOf(b)));
}

/** Null: there is no such file or folder, or it is of the other kind. */
async function orNull<Result>(work: Promise<Result>): Promise<Result | null> {
  try {
    return await work;
  } catch (thrown) {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(codeOf(thrown) ?? "")) return null;
    throw thrown;
  }
}

const FILE_FOR_FOLDER = "has a file where a folder is needed, or the other way round; choose another folder";

const REFUSALS: Readonly<Record<string, string>> = {
  EACCES: "may not be read or written by this user; change its owner or mode",
  EPERM:
    "does not allow what the lake needs (hard links among it); use another file system, or change its mode",
  ENOTSUP: "lies on a file system without hard links; use another one",
  EEXIST: FILE_FOR_FOLDER,
  ENOTDIR: FILE_FOR_FOLDER,
  EISDIR: FILE_FOR_FOLDER,
  ENOENT: "is not there and cannot be made; mount its file system, or choose another folder",
  EROFS: "is read-only; mount it for writing",
  ENOSPC: "is full; make room, and try again",
  EDQUOT: "is full (the quota is used up); make room, and try again",
};

/** What is neither the disk's doing nor told already stays as it is. */
function toldError(address: string, thrown: unknown): unknown {
  const code = codeOf(thrown);
  if (code === undefined || !("syscall" in (thrown as Error))) return thrown;
  const refusal = REFUSALS[code];
  if (refusal !== undefined) {
    return new WarehouseError("target.refused", `${address} ${refusal}.`, { cause: thrown });
  }
  const sentence = `${address} cannot be read or written just now (${code}); check the file system, and try again.`;
  return new WarehouseError("target.unavailable", sentence, { cause: thrown });
}
