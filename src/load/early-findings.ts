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
    this.#found = findInFiles(this.#examined, paths, this.#given.signal);
    // A failure is told to who asks for what was found.
    this.#found.catch(() => {});
  }

  /** Throws `disk.io` for a failing disk. */
  async found(): Promise<FileFindings> {
    return this.#found;
  }

  /** Resolves when nothing is read any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#given.abort();
    await Promise.allSettled([this.#found]);
  }
}
