/** Gives back memory that is the bytes' own and done with: a heap hardly shows pages, so that it would stay for long. */
export function release(bytes: Uint8Array): void {
  const { buffer } = bytes;
  const theirs = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
  if (theirs && !buffer.detached) buffer.transfer(0);
}
