/** A store in a folder, for one machine or a shared file system. */
import { randomUUID } from "node:crypto";
import type { Dirent } from "node:fs";
import {
  type FileHandle,
  link,
  lstat,
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
import { linkInTheWay } from "../../common/relative-path.ts";
import { sync } from "../../common/tree.ts";
import { compareUtf8 } from "../../common/utf8-order.ts";
import {
  changedFile,
  changedObject,
  checkKey,
  createFile,
  type FileContent,
  missingObject,
  type Store,
  type StoredObject,
  writeChecked,
} from "./store.ts";

/** Folder where objects are written before they get their name. It must be on the same file system. */
const TEMPORARY = ".tmp";
/** Age from which files of killed processes are removed there. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;

const PIECE_BYTES = 1024 * 1024;

/**
 * Stores objects as files. Each is written under a temporary name, synced to disk, and then named in one step: by a hard
 * link, which never replaces a file, or by rename. A missing folder is an empty one.
 */
export class FileStore implements Store {
  readonly address: string;
  readonly #folder: string;
  readonly #temporary: string;
  readonly #signal: AbortSignal;
  #isSwept = false;

  constructor(folder: string, signal: AbortSignal) {
    this.address = pathToFileURL(folder).href;
    this.#folder = folder;
    this.#temporary = join(folder, TEMPORARY);
    this.#signal = signal;
  }

  get(key: string): Promise<Buffer | null> {
    return this.#attempt(() => this.#pathOf(key).then((path) => orNull(readFile(path))));
  }

  putNew(key: string, body: Uint8Array): Promise<boolean> {
    return this.#attempt(async () => {
      try {
        await this.#write(key, (handle) => handle.writeFile(body), link);
        return true;
      } catch (thrown) {
        if (codeOf(thrown) === "EEXIST") return false;
        throw thrown;
      }
    });
  }

  put(key: string, body: Uint8Array): Promise<void> {
    return this.#attempt(() => this.#write(key, (handle) => handle.writeFile(body), rename));
  }

  async upload(key: string, file: string, content: FileContent): Promise<void> {
    await using source = await open(file);
    const copy = async (handle: FileHandle) => {
      if (!(await writeChecked(pieces(source, this.#signal), handle, content))) throw changedFile(file);
    };
    await this.#attempt(() => this.#write(key, copy, rename));
  }

  async download(key: string, file: string, content: FileContent): Promise<void> {
    const source = await this.#attempt(() => this.#pathOf(key).then((path) => orNull(open(path))));
    if (source === null) throw missingObject(this.address, key);
    await using _ = source;
    await createFile(file, async (handle) => {
      if (!(await writeChecked(pieces(source, this.#signal), handle, content)))
        throw changedObject(this.address, key);
    });
  }

  async *list(prefix: string, options?: { readonly after?: string }): AsyncGenerator<StoredObject> {
    try {
      this.#signal.throwIfAborted();
      await this.#assertNoLink(prefix);
      for await (const object of objectsBelow(this.#folder, "", { prefix, ...options })) {
        yield object;
        this.#signal.throwIfAborted();
      }
    } catch (thrown) {
      throw describeError(this.address, thrown);
    }
  }

  folders(prefix: string): Promise<string[]> {
    return this.#attempt(async () => {
      await this.#assertNoLink(prefix);
      const entries = await entriesOf(join(this.#folder, prefix));
      return entries.filter((entry) => entry.isDirectory()).map((entry) => `${entry.name}/`);
    });
  }

  remove(keys: readonly string[]): Promise<void> {
    return this.#attempt(async () => {
      const paths = await Promise.all(keys.map((key) => this.#pathOf(key)));
      for (const path of paths) await orNull(unlink(path));
      for (const parent of new Set(paths.map((path) => dirname(path))))
        await removeEmpty(parent, this.#folder);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #pathOf(key: string): Promise<string> {
    checkKey(this.address, key);
    await this.#assertNoLink(key);
    return join(this.#folder, key);
  }

  /** Throws `target.refused` for a symbolic link on the way to a key: it may lead out of the store. */
  async #assertNoLink(key: string): Promise<void> {
    const link = await linkInTheWay(this.#folder, key);
    if (link === undefined) return;
    throw new WarehouseError(
      "target.refused",
      `${this.address} has a symbolic link ${link}, which is not followed; replace it by what it leads to, or remove it.`,
    );
  }

  /** Writes a file by `fill` and names it by `name`. */
  async #write(
    key: string,
    fill: (handle: FileHandle) => Promise<void>,
    name: (from: string, to: string) => Promise<void>,
  ): Promise<void> {
    const path = await this.#pathOf(key);
    await this.#assertNoLink(TEMPORARY);
    const written = join(this.#temporary, randomUUID());
    await inFolder(this.#temporary, () => createFile(written, fill));
    try {
      if (!this.#isSwept)
        await removeAbandoned(this.#temporary, (await stat(written)).mtimeMs - ABANDONED_MS);
      this.#isSwept = true;
      await inFolder(dirname(path), () => name(written, path));
    } finally {
      await orNull(unlink(written));
    }
    // Another process may have removed the object and its folder since.
    await orNull(sync(dirname(path)));
  }

  async #attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      this.#signal.throwIfAborted();
      return await work();
    } catch (thrown) {
      throw describeError(this.address, thrown);
    }
  }
}

/** Reads a file to its end. The caller closes it. */
async function* pieces(file: FileHandle, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const piece of file.createReadStream({ autoClose: false, highWaterMark: PIECE_BYTES })) {
    signal.throwIfAborted();
    yield piece;
  }
}

/** `beforeMs`: by the clock of the file system, which may be on another machine. */
async function removeAbandoned(home: string, beforeMs: number): Promise<void> {
  for (const name of await readdir(home)) {
    const path = join(home, name);
    const found = await orNull(stat(path));
    if (found !== null && found.mtimeMs < beforeMs) await orNull(unlink(path));
  }
}

/** Maximum number of attempts at a folder that another process keeps removing because it is empty. */
const MAX_FOLDER_ATTEMPTS = 20;

/** Works in a folder, and creates it if it is missing. */
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

/**
 * Creates a folder with its parents, and syncs their entries to disk. Node's recursive `mkdir` reports ENOENT on a read-only
 * file system, and never ends in /proc.
 */
async function makeFolder(folder: string, hasParent = false): Promise<void> {
  try {
    await mkdir(folder);
    await orNull(sync(dirname(folder)));
  } catch (thrown) {
    if (codeOf(thrown) === "EEXIST") return;
    if (codeOf(thrown) !== "ENOENT" || hasParent) throw thrown;
    await makeFolder(dirname(folder));
    await makeFolder(folder, true);
  }
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

interface KeyFilter {
  readonly prefix: string;
  /** Exclusive. */
  readonly after?: string;
}

/** Walks entries in the order of whole keys: `a/x` comes after `a-b`, because `/` comes after `-`. */
async function* objectsBelow(root: string, folder: string, filter: KeyFilter): AsyncGenerator<StoredObject> {
  for (const entry of await entriesOf(join(root, folder))) {
    const key = folder + entry.name;
    if (entry.isDirectory()) {
      if (mayHold(`${key}/`, filter)) yield* objectsBelow(root, `${key}/`, filter);
    } else if (filter.prefix.startsWith(`${key}/`)) {
      // Throws ENOTDIR, as a put below this file would.
      await readdir(join(root, key));
    } else if (key.startsWith(filter.prefix) && isAfter(key, filter.after)) {
      const found = await orNull(lstat(join(root, key)));
      if (found !== null) yield { key, bytes: found.size, modifiedMs: found.mtimeMs };
    }
  }
}

function mayHold(folder: string, { prefix, after }: KeyFilter): boolean {
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

/** `null` if there is no such file or folder, or it is of the other kind. */
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
  EACCES: "cannot be read or written by this user; change its owner or mode",
  EPERM:
    "does not allow what the lake needs (hard links among it); use another file system, or change its mode",
  ENOTSUP: "lies on a file system without hard links; use another one",
  EEXIST: FILE_FOR_FOLDER,
  ENOTDIR: FILE_FOR_FOLDER,
  EISDIR: FILE_FOR_FOLDER,
  ENOENT: "does not exist and cannot be created; mount its file system, or choose another folder",
  EROFS: "is read-only; mount it for writing",
  ENOSPC: "is full; make room, and try again",
  EDQUOT: "is full (the quota is used up); make room, and try again",
};

/** Describes failures of system calls; gives everything else as it is. */
function describeError(address: string, thrown: unknown): unknown {
  const code = codeOf(thrown);
  if (code === undefined || !("syscall" in (thrown as Error))) return thrown;
  const refusal = REFUSALS[code];
  if (refusal !== undefined) {
    return new WarehouseError("target.refused", `${address} ${refusal}.`, { cause: thrown });
  }
  const sentence = `${address} cannot be read or written just now (${code}); check the file system, and try again.`;
  return new WarehouseError("target.unavailable", sentence, { cause: thrown });
}
