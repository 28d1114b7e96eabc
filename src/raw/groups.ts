/**
 * Groups of items whose documents lie in the same few raw files. An item is at home in the file of its latest document.
 * Where the listings agree in order, its other documents lie with those of the items around it; else it is of the rest.
 */
import type { RawIndex } from "./raw-index.ts";

/** Items that are transformed together, and where their documents lie. */
export interface ItemGroup {
  readonly files: readonly string[];
  /** Of each item: how many documents count, then of each, the latest first, the place in `files` and the row. */
  readonly documents: Uint32Array<ArrayBuffer>;
}

/** A file is read for a group that needs so much of it, or that has so many of its items in it. */
const SHARE = 1 / 8;
/** So many items alone are not worth it: reading what they need of a file by a query costs less. */
const FEW = 8;

/**
 * Groups of all items but those that `isLeftOut` names, then the rest: items of which some document lies in no file of
 * their group. An item is in one of them, once; without a document it is in none.
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

/** Items whose latest document lies in the file, in the order of its rows. */
function atHome(index: RawIndex, file: number, isLeftOut: (item: number) => boolean) {
  const latest = [...index.itemsIn(file)].filter(
    (item, row) => index.isLatest(file, row) && !isLeftOut(item),
  );
  return latest.map((item) => ({ item, counting: index.counting(item) }));
}

/** The file, and the others that are worth to be read with it. */
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
