import { compareUtf8 } from "../common/utf8-order.ts";
import { batches } from "../raw/batches.ts";
import { type IdRange, type RangeBounds, rangesOf } from "../storage/id-ranges.ts";
import { type BoundsByTable, GROWTH } from "./kept-ranges.ts";

/** Items in a range that is loaded at a time, at most. */
const ITEMS_PER_RANGE = 10_000;
/** Staged bytes of the widest table in such a range, roughly: to sort and write them takes some three times as much. */
const BYTES_PER_RANGE = 24 * 1024 * 1024;
/** The same for a range of another table; less, because its rows may be spread otherwise than the bytes of the answers. */
const BYTES_TOGETHER = 12 * 1024 * 1024;

export interface Weighing {
  /** Of all items, in the order of their IDs: bytes of the answers that had it, beside those of other items. */
  readonly weights: Float32Array;
  /** ID of the item at such a place. */
  readonly idAt: (place: number) => string;
  /** Staged bytes of the table that has most of them. */
  readonly widestTableBytes: number;
}

/** Rows that the database works on at once; so many of the widest table it holds all together, whatever their size. */
export const ROWS_OF_A_VECTOR = 2048;

/** Most bytes that so many items next to each other have in the widest table, roughly. */
export function vectorBytes({ weights, widestTableBytes }: Weighing): number {
  let whole = 0;
  let held = 0;
  let heaviest = 0;
  for (const [place, weight] of weights.entries()) {
    whole += weight;
    held += weight - (weights[place - ROWS_OF_A_VECTOR] ?? 0);
    heaviest = Math.max(heaviest, held);
  }
  return whole === 0 ? 0 : (heaviest / whole) * widestTableBytes;
}

/** DuckDB's buffers for common items. 128 is enough, 112 is not: two statements do not always spill all they could. */
const MEMORY_LIMIT_MB = 192;
/** Above, the engine's error says more than a process that the system kills. */
const MEMORY_LIMIT_AT_MOST_MB = 4096;

/** With room for the rows that the database holds at once, of so many bytes: a gigabyte with items of 500 KB. */
export function memoryLimitMb(vectorBytes: number): number {
  return Math.min(MEMORY_LIMIT_MB + Math.ceil((1.25 * vectorBytes) / 1e6), MEMORY_LIMIT_AT_MOST_MB);
}

/** Least ID of each range of items that is loaded at a time; none where one range is enough. */
export function rangeBounds({ weights, idAt, widestTableBytes }: Weighing): RangeBounds {
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const bytesPerWeight = whole === 0 ? 0 : widestTableBytes / whole;
  const limits = { items: ITEMS_PER_RANGE, bytes: BYTES_PER_RANGE };
  const bounds: string[] = [];
  for (const [first] of batches(weights.keys(), (place) => (weights[place] ?? 0) * bytesPerWeight, limits)) {
    if (first !== undefined) bounds.push(idAt(first));
  }
  return bounds.length <= 1 ? [] : bounds;
}

/**
 * Bounds for a table with so many staged bytes: as many neighbouring ranges made one as its bytes allow, since each
 * file has a price of its own. `atLeast`: for steps that work on several ranges at a time.
 */
export function boundsTogether(bounds: RangeBounds, stagedBytes: number, atLeast = 1): RangeBounds {
  const wanted = Math.max(atLeast, Math.ceil(stagedBytes / BYTES_TOGETHER));
  const together = Math.max(1, Math.floor(bounds.length / wanted));
  const firsts = bounds.filter((_, place) => place % together === 0);
  return firsts.length <= 1 ? [] : firsts;
}

interface FileRanges {
  /** Of all items, as {@link rangeBounds} gives them. */
  readonly bounds: RangeBounds;
  /** By table. */
  readonly stagedBytes: ReadonlyMap<string, number>;
  readonly before: BoundsByTable;
}

/** Bounds of the files of each table of items: those of the run before, with cuts where a range is too large by now. */
export function fileBounds(weighing: Weighing, { bounds, stagedBytes, before }: FileRanges): BoundsByTable {
  const part = parts(weighing);
  const found = new Map<string, RangeBounds>();
  for (const [table, bytes] of stagedBytes) {
    const kept = before.get(table);
    const cut = (range: IdRange, place: number): RangeBounds => {
      const first = kept?.[place] ?? "";
      const { share, ...within } = part(range);
      const isTooLarge =
        share * bytes > GROWTH * BYTES_TOGETHER &&
        (within.weights.length > GROWTH * ITEMS_PER_RANGE ||
          within.widestTableBytes > GROWTH * BYTES_PER_RANGE);
      const cuts = isTooLarge ? boundsTogether(rangeBounds(within), share * bytes) : [];
      return [first, ...cuts.slice(1)];
    };
    found.set(table, kept === undefined ? boundsTogether(bounds, bytes) : rangesOf(kept).flatMap(cut));
  }
  return found;
}

/** What is weighed of a range, and which share of the whole it has. */
function parts({ weights, idAt, widestTableBytes }: Weighing) {
  const sums = new Float64Array(weights.length + 1);
  for (const [place, weight] of weights.entries()) sums[place + 1] = (sums[place] ?? 0) + weight;
  const whole = sums.at(-1) || 1;
  const placeOf = (bound: string): number => {
    let [from, to] = [0, weights.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (compareUtf8(idAt(middle), bound) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  return ({ lower, upper }: IdRange): Weighing & { readonly share: number } => {
    const from = lower === undefined ? 0 : placeOf(lower);
    const to = upper === undefined ? weights.length : placeOf(upper);
    const share = ((sums[to] ?? 0) - (sums[from] ?? 0)) / whole;
    return {
      weights: weights.subarray(from, to),
      idAt: (place) => idAt(from + place),
      widestTableBytes: share * widestTableBytes,
      share,
    };
  };
}
