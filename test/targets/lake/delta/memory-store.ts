/** A store in memory for one log, whose operations wait for a turn where a test is of what comes between. */
import { WarehouseError } from "../../../../src/common/errors.ts";
import type { Store } from "../../../../src/targets/store/store.ts";
import { memoryStore, type Objects, watchedStore } from "../memory-store.ts";

/** What becomes of a put: it is stored and told so, stored and taken for another's, stored or not and its answer lost. */
export type Answer = "told" | "taken for another's" | "stored, lost" | "not stored, lost";

interface Between {
  /** Resolves when it is the operation's turn; what it does then comes in between no other. */
  readonly turn: (operation: string) => Promise<unknown>;
  /** Of the next `putNew` that finds nothing. */
  readonly answer: () => Answer;
}

export interface LogStore extends Store {
  readonly objects: Objects;
  /** Milliseconds since 1970. */
  nowMs: number;
}

export function logStore(between?: Between): LogStore {
  const objects: Objects = new Map();
  const made = { objects, nowMs: Date.UTC(2026, 10, 20) };
  const store = memoryStore(objects, () => made.nowMs);
  if (between === undefined) return Object.assign(made, store);
  const watched = watchedStore(store, async (operation, key) => {
    await between.turn(`${operation} ${key}`);
    if (operation !== "putNew" || objects.has(key)) return undefined;
    const answer = between.answer();
    const lost = () => {
      throw new WarehouseError("target.unavailable", "The answer was lost.");
    };
    if (answer === "not stored, lost") lost();
    return answer === "stored, lost" ? lost : () => answer === "told";
  });
  return Object.assign(made, watched);
}
