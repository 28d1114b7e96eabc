/**
 * Gives memory back that is the bytes' own and that nobody needs any more. Pages, a megabyte each, hardly show in a
 * heap: the garbage collection would leave them for long.
 */
export function release(bytes: Uint8Array): void {
  const { buffer } = bytes;
  const theirs = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
  if (theirs && !buffer.detached) buffer.transfer(0);
}
