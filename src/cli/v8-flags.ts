/** Flags of V8 that save memory, for a process that only runs one command. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Limits the heaps of this process and of threads that start later. By default V8 takes as much as the machine has.
 *
 * - The young generation of the main thread would grow to 128 MB on a machine of 24 GB; a run uses a few MB.
 * - Threads that parse pages start with their whole young generation, because growing it would move what they parsed.
 * - V8 collects garbage when a heap has three times its live size, not four: an eighth less memory in the same time. At
 *   two times it would collect once a second in each thread, because memory outside the heap counts too.
 * - `gc()` becomes available. Called at the right moments, it takes 40 ms and saves 90 MB at 400,000 items.
 *
 * A V8 that lacks a flag prints a warning and continues.
 */
export function keepHeapsSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--min-semi-space-size=12");
  setFlagsFromString("--heap-growing-percent=200");
  setFlagsFromString("--expose-gc");
  // Only contexts made from now on have `gc` by themselves.
  globalThis.gc = runInNewContext("globalThis.gc");
}
