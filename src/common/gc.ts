/**
 * Takes garbage away before work that allocates hardly anything on this thread: it would stay to the end. Without effect
 * where the process did not provide for it.
 */
export function collectGarbage(): void {
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}

/** Takes garbage away in the midst of work: what is compiled stays. */
export function collectKeepingCode(): void {
  globalThis.gc?.({ type: "major", execution: "sync" });
}

/**
 * Takes away what was made of late, at a moment when hardly anything of it is needed any more: garbage collection pays
 * for what is alive, and in the midst of a page that is all that was parsed of it.
 */
export function collectYoung(): void {
  globalThis.gc?.({ type: "minor", execution: "sync" });
}
