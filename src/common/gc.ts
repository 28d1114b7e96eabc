/** Takes garbage away before work that allocates little here: it would stay. Nothing without `--expose-gc`. */
export function collectGarbage(): void {
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}

/** Takes garbage away in the midst of work: what is compiled stays. */
export function collectKeepingCode(): void {
  globalThis.gc?.({ type: "major", execution: "sync" });
}

/** Takes young garbage away when hardly anything of it is alive, which is what it costs: not in the midst of a page. */
export function collectYoung(): void {
  globalThis.gc?.({ type: "minor", execution: "sync" });
}
