/** Splits a list, in its order, into batches of bounded size. A batch of one item may have more bytes. */
export function* splitIntoBatches<Item>(
  items: Iterable<Item>,
  bytesOf: (item: Item) => number,
  limits: { readonly items: number; readonly bytes: number },
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
