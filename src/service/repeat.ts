/** A content set with copies of its items, made on request: for trials with many items. */

import { type ContentSet, DocumentOutline, type DocumentStore } from "./assemble-set.ts";
import type { Document } from "./content-set.ts";

/** Documents that are read at once for the outline. */
const READ_AT_ONCE = 200;

/**
 * The documents of a set, and `times - 1` copies of each with other IDs, slugs and times. Closing it closes the set.
 * Throws `config.content_set` if the ID or slug of a copy is that of a document.
 */
export async function repeatContentSet(set: ContentSet, times: number): Promise<ContentSet> {
  const { documents } = set;
  const outline = new DocumentOutline();
  for (let copy = 0; copy < times; copy++) {
    for (let first = 0; first < documents.count; first += READ_AT_ONCE) {
      const end = Math.min(first + READ_AT_ONCE, documents.count);
      const positions = Array.from({ length: end - first }, (_, i) => first + i);
      for (const document of await documents.read(positions)) outline.add(copyOf(document, copy));
    }
  }
  return { ...set, documents: copies(documents, times), outline };
}

function copies(documents: DocumentStore, times: number): DocumentStore {
  const { count } = documents;
  return {
    count: count * times,
    async read(positions) {
      const read = await documents.read(positions.map((position) => position % count));
      return read.map((document, i) => copyOf(document, Math.floor((positions[i] ?? 0) / count)));
    },
    close: () => documents.close(),
  };
}

/** Copy 0 is the document itself. Each further copy was created and edited a second earlier. */
function copyOf(document: Document, copy: number): Document {
  if (copy === 0) return document;
  const { id, slug, created_at, updated_at } = document;
  return {
    ...document,
    id: `${id}-${copy}`,
    slug: `${slug}-${copy}`,
    created_at: earlier(created_at, copy),
    updated_at: earlier(updated_at, copy),
  };
}

/** The instant moved back, with its fraction of a second. A text that is not an instant stays as it is. */
function earlier(instant: string, seconds: number): string {
  const ms = Date.parse(`${instant.slice(0, WHOLE_SECONDS)}Z`);
  if (Number.isNaN(ms)) return instant;
  return new Date(ms - seconds * 1000).toISOString().slice(0, WHOLE_SECONDS) + instant.slice(WHOLE_SECONDS);
}

const WHOLE_SECONDS = "YYYY-MM-DDTHH:MM:SS".length;
