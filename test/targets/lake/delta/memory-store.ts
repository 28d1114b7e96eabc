/** A store in memory whose every operation waits for a turn, for tests of what comes between. */
import { WarehouseError } from "../../../../src/common/errors.ts";
import { compareUtf8 } from "../../../../src/common/utf8-order.ts";
import type { ListOptions, Store, StoredObject } from "../../../../src/targets/store/store.ts";

/** What becomes of a put: it is stored and told so, stored and taken for another's, stored or not and its answer lost. */
export type Answer = "told" | "taken for another's" | "stored, lost" | "not stored, lost";

export interface MemoryStoreOptions {
  /** Resolves when it is the operation's turn; what it does then comes in between no other. */
  readonly turn: (operation: string) => Promise<unknown>;
  /** Of the next `putNew` that finds nothing. */
  readonly answer: () => Answer;
}

const AT_ONCE: MemoryStoreOptions = { turn: async () => undefined, answer: () => "told" };

export class MemoryStore implements Store {
  readonly address = "memory:";
  readonly objects = new Map<string, StoredObject & { readonly body: Buffer }>();
  /** Milliseconds since 1970. */
  nowMs = Date.UTC(2026, 10, 20);
  readonly #options: MemoryStoreOptions;

  constructor(options: MemoryStoreOptions = AT_ONCE) {
    this.#options = options;
  }

  async get(key: string): Promise<Buffer | null> {
    await this.#options.turn(`get ${key}`);
    return this.objects.get(key)?.body ?? null;
  }

  async putNew(key: string, body: Uint8Array): Promise<boolean> {
    await this.#options.turn(`putNew ${key}`);
    if (this.objects.has(key)) return false;
    const answer = this.#options.answer();
    if (answer !== "not stored, lost") this.#set(key, body);
    if (answer.endsWith("lost")) throw new WarehouseError("target.unavailable", "The answer was lost.");
    return answer === "told";
  }

  async put(key: string, body: Uint8Array): Promise<void> {
    await this.#options.turn(`put ${key}`);
    this.#set(key, body);
  }

  async *list(prefix: string, { after = "" }: ListOptions = {}): AsyncIterable<StoredObject> {
    await this.#options.turn(`list ${prefix}`);
    const found = [...this.objects.values()].filter(
      ({ key }) => key.startsWith(prefix) && compareUtf8(key, after) > 0,
    );
    yield* found.toSorted((a, b) => compareUtf8(a.key, b.key));
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      await this.#options.turn(`remove ${key}`);
      this.objects.delete(key);
    }
  }

  async upload(): Promise<void> {
    throw new Error("a log has no files to upload");
  }

  async download(): Promise<void> {
    throw new Error("a log has no files to download");
  }

  async folders(): Promise<readonly string[]> {
    throw new Error("a log has no folders");
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #set(key: string, body: Uint8Array): void {
    this.objects.set(key, { key, body: Buffer.from(body), bytes: body.length, modifiedMs: this.nowMs });
  }
}
