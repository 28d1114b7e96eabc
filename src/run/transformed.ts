/** Which items have their rows, and rows for those that no group of pages could give any. */
import { regroup } from "./regroup.ts";
import type { SweepContext } from "./sweep.ts";

/** Items that have their rows. */
export class Transformed {
  readonly #once = new Set<string>();
  readonly #twice = new Set<string>();

  add(ids: readonly string[]): void {
    for (const id of ids) {
      if (this.#once.has(id)) this.#twice.add(id);
      this.#once.add(id);
    }
  }

  /** The documents behind the rows do not count any more: all that have some are done anew. */
  redo(): void {
    for (const id of this.#once) this.#twice.add(id);
  }

  /** Those of `ids` that have none: no group had all their views. */
  left(ids: readonly string[]): string[] {
    return ids.filter((id) => !this.#once.has(id));
  }

  /** Those of `ids` that have some and are to be done anew, and those that have them twice. Ascending. */
  again(ids: readonly string[]): string[] {
    return [...new Set([...this.#twice, ...ids])].filter((id) => this.#once.has(id)).sort();
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
  const { workers, signal, onProgress } = context;
  const { directory, temporaryDirectory } = staging;
  const total = rest.left.length + rest.again.length;
  let done = 0;
  for (const [generation, contentIds] of [rest.left, rest.again].entries()) {
    const request = { contentIds, rawFiles: rest.rawFiles, directory, temporaryDirectory };
    await regroup(request, async (file) => {
      signal.throwIfAborted();
      const { transformed } = await workers.transform({ kind: "transform", rawFiles: [file], generation });
      done += transformed.length;
      onProgress({ stage: "transform", done, total, items: done, bytes: 0 });
    });
  }
}
