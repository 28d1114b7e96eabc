/** A store in memory, for laws that are tried thousands of times; and one that fails where a test says. */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { WarehouseError } from "../../../src/common/errors.ts";
import { compareUtf8 } from "../../../src/common/utf8-order.ts";
import type { FileContent, Store, StoredObject } from "../../../src/targets/store/store.ts";

interface Kept {
  readonly body: Buffer;
  readonly modifiedMs: number;
}

export type Objects = Map<string, Kept>;

/** `now`: by the store's clock. */
export function memoryStore(objects: Objects, now: () => number = Date.now): Store {
  const keep = (key: string, body: Uint8Array) => {
    objects.set(key, { body: Buffer.from(body), modifiedMs: now() });
  };
  return {
    address: "memory:",
    get: async (key) => objects.get(key)?.body ?? null,
    putNew: async (key, body) => {
      if (objects.has(key)) return false;
      keep(key, body);
      return true;
    },
    put: async (key, body) => keep(key, body),
    upload: async (key, file, content) => {
      const body = await readFile(file);
      assertContent(key, body, content);
      keep(key, body);
    },
    download: async (key, file, content) => {
      const body = objects.get(key)?.body ?? Buffer.alloc(0);
      assertContent(key, body, content);
      await writeFile(file, body, { flag: "wx" });
    },
    list: async function* (prefix, { after = "" } = {}): AsyncGenerator<StoredObject> {
      const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && compareUtf8(key, after) > 0);
      for (const key of keys.toSorted(compareUtf8)) {
        const found = objects.get(key);
        if (found !== undefined) yield { key, bytes: found.body.length, modifiedMs: found.modifiedMs };
      }
    },
    folders: async (prefix) => {
      const below = [...objects.keys()]
        .filter((key) => key.startsWith(prefix))
        .map((key) => key.slice(prefix.length));
      const names = below.filter((rest) => rest.includes("/")).map((rest) => `${rest.split("/", 1)[0]}/`);
      return [...new Set(names)].toSorted(compareUtf8);
    },
    remove: async (keys) => {
      for (const key of keys) objects.delete(key);
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

function assertContent(key: string, body: Buffer, { bytes, sha256 }: FileContent): void {
  const isSame = body.length === bytes && createHash("sha256").update(body).digest("hex") === sha256;
  if (!isSame) throw new WarehouseError("target.refused", `${key} has another content than was delivered.`);
}

export const OPERATIONS = [
  "get",
  "putNew",
  "put",
  "upload",
  "download",
  "list",
  "folders",
  "remove",
] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Told before each operation: what it gives is waited for, and what it throws is thrown in its place. `work` does it. */
export type Before = (
  operation: Operation,
  key: string,
  work: () => Promise<unknown>,
) => Promise<After | undefined>;
/** Given what the operation answered, the answer that its caller gets. */
export type After = (answer: unknown) => unknown;

/** A store whose operations a test looks at, holds up, or makes fail. */
export function watchedStore(store: Store, before: Before): Store {
  const watched = async <Answer>(
    operation: Operation,
    key: string,
    work: () => Promise<Answer>,
  ): Promise<Answer> => {
    const after = await before(operation, key, work);
    const answer = await work();
    return after === undefined ? answer : ((await after(answer)) as Answer);
  };
  return {
    ...store,
    get: (key) => watched("get", key, () => store.get(key)),
    putNew: (key, body) => watched("putNew", key, () => store.putNew(key, body)),
    put: (key, body) => watched("put", key, () => store.put(key, body)),
    upload: (key, file, content) => watched("upload", key, () => store.upload(key, file, content)),
    download: (key, file, content) => watched("download", key, () => store.download(key, file, content)),
    folders: (prefix) => watched("folders", prefix, () => store.folders(prefix)),
    remove: (keys) => watched("remove", keys.join(" "), () => store.remove(keys)),
    list: async function* (prefix, options) {
      yield* await watched("list", prefix, async () => store.list(prefix, options));
    },
  };
}

/** What a process that was killed throws at every operation from then on. */
export class Killed extends Error {}

/** The operation at which a process is killed is not done, or done and not heard of, or done once it is told to arrive. */
export type Death = "before" | "after" | "late";

/** A store of a process that is killed at an operation, counted from 0. `operations`: those so far. */
export function killedAt(
  store: Store,
  at: number,
  when: Death,
): Store & { readonly operations: readonly Operation[]; arrive(): Promise<unknown> } {
  const operations: Operation[] = [];
  let late: (() => Promise<unknown>) | undefined;
  const die = () => {
    throw new Killed(`at operation ${at}`);
  };
  const watched = watchedStore(store, async (operation, _key, work) => {
    const place = operations.push(operation) - 1;
    // The file of an upload may be gone with its process.
    if (place === at && when === "late" && operation !== "upload") late = work;
    if (place > at || (place === at && when !== "after")) die();
    return place === at ? die : undefined;
  });
  return Object.assign(watched, { operations, arrive: async () => await late?.() });
}
