/** A store in memory for one log. */
import type { Store } from "../../../../src/targets/store/store.ts";
import { memoryStore, type Objects, watchedStore } from "../memory-store.ts";

export interface LogStore extends Store {
  readonly objects: Objects;
  /** Milliseconds since 1970. */
  nowMs: number;
}

/** `before`: called before each operation; what it throws, the operation throws. */
export function logStore(before: () => void = () => {}): LogStore {
  const objects: Objects = new Map();
  const made = { objects, nowMs: Date.UTC(2026, 10, 20) };
  const watched = watchedStore(
    memoryStore(objects, () => made.nowMs),
    async () => {
      before();
      return undefined;
    },
  );
  return Object.assign(made, watched);
}
