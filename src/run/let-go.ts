/**
 * Takes garbage away before work that allocates hardly anything on this thread: it would stay to the end. Without effect
 * where the process did not provide for it.
 */
export function letGo(): void {
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}
