import { type Digest, digestsOf } from "./file-findings.ts";

const NONE: ReadonlyMap<string, Digest> = new Map();

/**
 * Makes digests of files of a result that nobody writes any more while the last ones are still made, for which it waits
 * for the disk and for single statements. They are asked for, or given up by disposal.
 */
export class EarlyDigests implements AsyncDisposable {
  readonly #result: string;
  readonly #given = new AbortController();
  #made = Promise.resolve(NONE);

  /** `result`: folder of the files. */
  constructor(result: string) {
    this.#result = result;
  }

  /** `paths`: below the result; all of them finished, and none of a database. */
  begin(paths: readonly string[]): void {
    const { signal } = this.#given;
    // A file that cannot be read has no digest: the proof reads it once more, and tells what is wrong.
    const made = digestsOf({ result: this.#result, paths, refused: () => {}, signal });
    this.#made = made.catch(() => NONE);
  }

  /** By path. */
  async made(): Promise<ReadonlyMap<string, Digest>> {
    return this.#made;
  }

  /** Resolves when nothing is read any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#given.abort();
    await this.#made;
  }
}
