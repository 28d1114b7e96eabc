import type { FileHandle } from "node:fs/promises";
import type { Document } from "./content-set.ts";

/** Documents of a content set by position: 0 is the oldest. */
export interface DocumentStore {
  readonly count: number;
  /** The documents at these positions, in this order. */
  read(positions: readonly number[]): Promise<Document[]>;
  close(): Promise<void>;
}

/** Where the lines of `content.ndjson` are: byte offset and length of each document. */
export interface LineIndex {
  readonly offsets: readonly number[];
  readonly lengths: readonly number[];
}

/**
 * Documents left in their file, which the operating system caches: memory holds 16 bytes a document, and a page of
 * the list is one read. The lines were checked when the index was made.
 */
export class FileStore implements DocumentStore {
  readonly #file: FileHandle;
  readonly #index: LineIndex;

  constructor(file: FileHandle, index: LineIndex) {
    this.#file = file;
    this.#index = index;
  }

  get count(): number {
    return this.#index.offsets.length;
  }

  async read(positions: readonly number[]): Promise<Document[]> {
    const documents: Document[] = [];
    for (const run of consecutiveRuns(positions)) documents.push(...(await this.#readRun(run)));
    return documents;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #readRun({ first, length }: Run): Promise<Document[]> {
    const { offsets, lengths } = this.#index;
    const start = documentAt(offsets, first);
    const last = first + length - 1;
    const bytes = Buffer.allocUnsafe(documentAt(offsets, last) + documentAt(lengths, last) - start);
    const { bytesRead } = await this.#file.read(bytes, 0, bytes.length, start);
    if (bytesRead < bytes.length) throw new Error("content.ndjson became shorter while it was being served.");
    return Array.from({ length }, (_, index) => {
      const from = documentAt(offsets, first + index) - start;
      const document: Document = JSON.parse(
        bytes.toString("utf8", from, from + documentAt(lengths, first + index)),
      );
      return document;
    });
  }
}

interface Run {
  readonly first: number;
  readonly length: number;
}

function consecutiveRuns(positions: readonly number[]): Run[] {
  const runs: { first: number; length: number }[] = [];
  for (const position of positions) {
    const last = runs.at(-1);
    if (last !== undefined && position === last.first + last.length) last.length += 1;
    else runs.push({ first: position, length: 1 });
  }
  return runs;
}

function documentAt<T>(list: readonly T[], position: number): T {
  const found = list[position];
  if (found === undefined) throw new RangeError(`No document stands at position ${position}.`);
  return found;
}
