/** Which items have their rows, and rows for those that no group of pages could give any. */
import type { Catalogue } from "../extract/passes/pass-snapshot.ts";
import { regroup } from "./regroup.ts";
import type { SweepContext } from "../extract/passes/listing.ts";

const ONCE = 1;
/** More than once, or to be done anew. */
const TWICE = 2;

/** Items that have their rows. A byte an item. */
export class Transformed {
  readonly #catalogue: Catalogue;
  /** By the item's number. */
  #times = new Uint8Array(1024);

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  add(ids: readonly string[]): void {
    for (const id of ids) {
      const number = this.#catalogue.numberOf(id);
      if (number >= this.#times.length) {
        const larger = new Uint8Array(Math.max(number + 1, this.#times.length * 2));
        larger.set(this.#times);
        this.#times = larger;
      }
      this.#times[number] = this.#of(number) === 0 ? ONCE : TWICE;
    }
  }

  #of(number: number | undefined): number {
    return number === undefined ? 0 : (this.#times[number] ?? 0);
  }

  /** The documents behind the rows do not count any more: all that have some are done anew. */
  redo(): void {
    this.#times = this.#times.map((times) => (times === 0 ? 0 : TWICE));
  }

  /** IDs of those of the items that have none, in their order: no group had all their views. */
  left(numbers: Uint32Array): string[] {
    const left: string[] = [];
    for (const number of numbers) if (this.#of(number) === 0) left.push(this.#catalogue.idOf(number));
    return left;
  }

  /** Those of `ids` that have some and are to be done anew, and those that have them twice. Ascending. */
  again(ids: readonly string[]): string[] {
    const again = new Set(ids.filter((id) => this.#of(this.#catalogue.find(id)) !== 0));
    for (const [number, times] of this.#times.entries()) {
      if (times === TWICE) again.add(this.#catalogue.idOf(number));
    }
    return [...again].sort();
  }
}

/** Generation of the rows of items that are done anew. */
export const AGAIN = 1;

/** Absolute paths. */
interface StagingFolders {
  readonly directory: string;
  readonly temporaryDirectory: string;
}

interface Rest {
  readonly rawFiles: readonly string[];
  readonly left: readonly string[];
  readonly again: readonly string[];
}

/** Items that no group could pair, and those that must be done anew because several answers of one pass have them. */
export async function transformRest(
  context: SweepContext,
  staging: StagingFolders,
  rest: Rest,
): Promise<void> {
  const { workers, catalogue, signal, onProgress } = context;
  const { directory, temporaryDirectory } = staging;
  const total = rest.left.length + rest.again.length;
  let done = 0;
  for (const [generation, contentIds] of [rest.left, rest.again].entries()) {
    const weightOf = (id: string) => catalogue.weightOf(id);
    const request = { contentIds, weightOf, rawFiles: rest.rawFiles, directory, temporaryDirectory };
    await regroup(request, async (file) => {
      signal.throwIfAborted();
      const { transformed } = await workers.transform({ kind: "transform", rawFiles: [file], generation });
      done += transformed.length;
      onProgress({ stage: "transform", done, total, items: done, bytes: 0 });
    });
  }
}
