/** Frees memory earlier than V8 would. Collections do nothing without `--expose-gc`. */

/** Collects all garbage before work that allocates little, during which it would stay. */
export function collectGarbage(): void {
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}

/** Frees the buffer of bytes that are no longer used, unless they share it. V8 does not count buffers and would wait. */
export function release(bytes: Uint8Array): void {
  const { buffer } = bytes;
  const theirs = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
  if (theirs && !buffer.detached) buffer.transfer(0);
}
