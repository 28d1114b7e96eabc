export interface BatchLimits {
  readonly items: number;
  /** A single item may have more. */
  readonly bytes: number;
}

/** Cuts a list, in its order, so that no batch has more items or bytes than it may. */
export function* batches(
  ids: readonly string[],
  bytesOf: (id: string) => number,
  limits: BatchLimits,
): Generator<string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for (const id of ids) {
    const more = bytesOf(id);
    if (batch.length === limits.items || (batch.length > 0 && bytes + more > limits.bytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(id);
    bytes += more;
  }
  if (batch.length > 0) yield batch;
}
