/**
 * Groups items whose documents lie in the same few raw files. A group has the items whose latest document lies in one
 * file. If both listings have the same order, the other documents of these items lie together too.
 */
import type { RawIndex } from "./raw-index.ts";

/** Items that are transformed together. */
export interface ItemGroup {
  readonly files: readonly string[];
  /** For each item: number of documents that count, then for each, the latest first, index in `files` and row. */
  readonly documents: Uint32Array<ArrayBuffer>;
}

/** A file is read for a group that needs this share of it, or this share of the group. */
const SHARE = 1 / 8;
/** For fewer items, a query for their documents costs less than reading a file. */
const FEW = 8;

/**
 * Yields the groups, and returns the numbers of the remaining items, of which some document lies in another file. Items
 * without documents, and those that are left out, are in neither.
 */
export function* planGroups(
  index: RawIndex,
  isLeftOut: (item: number) => boolean,
): Generator<ItemGroup, number[]> {
  const rest: number[] = [];
  for (const file of index.files.keys()) {
    const items = atHome(index, file, isLeftOut);
    const files = filesTogether(index, file, items);
    const places = new Map(files.map((each, place) => [each, place]));
    const documents: number[] = [];
    for (const { item, counting } of items) {
      if (counting.every((at) => places.has(at.file)))
        documents.push(counting.length, ...counting.flatMap((at) => [places.get(at.file) ?? 0, at.row]));
      else rest.push(item);
    }
    if (documents.length > 0)
      yield {
        files: files.map((each) => index.files[each] ?? ""),
        documents: Uint32Array.from(documents),
      };
  }
  return rest;
}

/** Items whose latest document lies in the file, in the order of rows. */
function atHome(index: RawIndex, file: number, isLeftOut: (item: number) => boolean) {
  const latest = [...index.itemsIn(file)].filter(
    (item, row) => index.isLatest(file, row) && !isLeftOut(item),
  );
  return latest.map((item) => ({ item, counting: index.counting(item) }));
}

/** The file, and the other files to read with it. */
function filesTogether(index: RawIndex, file: number, items: ReturnType<typeof atHome>): number[] {
  const needed = new Map<number, number>();
  for (const { counting } of items)
    for (const at of counting) needed.set(at.file, (needed.get(at.file) ?? 0) + 1);
  const worth = [...needed].filter(
    ([other, documents]) =>
      other === file ||
      documents >= SHARE * index.sizeOf(other) ||
      documents >= Math.max(FEW, SHARE * items.length),
  );
  return worth.map(([other]) => other);
}
