import { randomUUID } from "node:crypto";
import { WarehouseError } from "../../common/errors.ts";
import type { Store } from "./store.ts";

/**
 * Puts one fresh key twice: only the first may succeed, and its bytes must be there. All that keeps deliveries apart rests
 * on that. Throws `target.refused` where the store overwrites.
 */
export async function proveConditionalPut(store: Store): Promise<void> {
  const key = `_published/.probe-${randomUUID()}`;
  const [first, second] = [Buffer.from("first"), Buffer.from("second")];
  try {
    // After an answer that was lost the first put may be told to be there already; its bytes decide.
    await store.putNew(key, first);
    const isPutTwice = await store.putNew(key, second);
    const there = await store.get(key);
    if (isPutTwice || there === null || !there.equals(first)) throw overwrites(store.address);
  } finally {
    await store.remove([key]);
  }
}

/** Of a store that ignores, or does not know, the condition of a put. */
export function overwrites(address: string): WarehouseError {
  return new WarehouseError(
    "target.refused",
    `${address} overwrites objects that are to be put only where there is none (it ignores "If-None-Match: *"), so two deliveries could mix; use a store that honours it (docs/lake.md names some).`,
  );
}
