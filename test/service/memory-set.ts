/** A content set that tests make in memory. */

import {
  assembleContentSet,
  type ContentSet,
  DocumentOutline,
  type DocumentStore,
} from "../../src/service/assemble-set.ts";
import type { Document, ServedDefinitions } from "../../src/service/content-set.ts";

/** A content set as values; `documents` in creation order. */
export interface ContentSetData {
  readonly documents: readonly Document[];
  readonly shared: ServedDefinitions;
}

class MemoryStore implements DocumentStore {
  readonly #documents: readonly Document[];

  constructor(documents: readonly Document[]) {
    this.#documents = documents;
  }

  get count(): number {
    return this.#documents.length;
  }

  async read(positions: readonly number[]): Promise<Document[]> {
    return positions.flatMap((position) => this.#documents[position] ?? []);
  }

  async close(): Promise<void> {}
}

/** A content set held in memory: `contentSetOf({ documents, shared })`. */
export function contentSetOf({ documents, shared }: ContentSetData): ContentSet {
  const outline = new DocumentOutline();
  for (const document of documents) outline.add(document);
  return assembleContentSet(new MemoryStore(documents), outline, shared);
}
