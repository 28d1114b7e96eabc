/** Splits lists into batches of bounded size. */
export interface BatchLimits {
  readonly items: number;
  /** A batch of one item may have more. */
  readonly bytes: number;
}

/** Splits a list, in its order. */
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
