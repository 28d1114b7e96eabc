export interface BatchLimits {
  readonly items: number;
  /** A single item may have more. */
  readonly bytes: number;
}

/** Cuts a list, in its order, so that no batch has more items or bytes than it may. */
export function* splitIntoBatches<Item>(
  items: Iterable<Item>,
  bytesOf: (item: Item) => number,
  limits: BatchLimits,
): Generator<Item[]> {
  let batch: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const more = bytesOf(item);
    if (batch.length === limits.items || (batch.length > 0 && bytes + more > limits.bytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += more;
  }
  if (batch.length > 0) yield batch;
}
