import { type ExaminedResult, type FileFindings, findInFiles } from "./file-findings.ts";

const NOTHING: FileFindings = { files: new Map(), unread: [] };

/**
 * Examines files of a result that nobody writes any more while the last ones are still made: it waits for the disk and
 * for single statements then. What it found is asked for, or given up by disposal.
 */
export class EarlyFindings implements AsyncDisposable {
  readonly #examined: ExaminedResult;
  readonly #given = new AbortController();
  #found = Promise.resolve(NOTHING);

  constructor(examined: ExaminedResult) {
    this.#examined = examined;
  }

  /** `paths`: below the result; all of them finished, and none of a database. */
  begin(paths: readonly string[]): void {
    // Where it fails, nothing is found: the proof examines all files then, and tells what is wrong.
    this.#found = findInFiles(this.#examined, paths, this.#given.signal).catch(() => NOTHING);
  }

  async found(): Promise<FileFindings> {
    return this.#found;
  }

  /** Resolves when nothing is read any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#given.abort();
    await this.#found;
  }
}
