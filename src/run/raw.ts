/**
 * Raw documents: each answer's document as it is kept, after the personal-data policy, one row each. They are the
 * evidence behind an audit, what the views of an item are paired from, and what a later transform can be made from.
 */
import { hash } from "node:crypto";
import { parseJson } from "../extract/decode.ts";
import type { PartCompression } from "../load/part.ts";
import { readPart, writePart } from "../load/part.ts";
import { bigint, type Column, integer, json, text, timestamp } from "../tables/declare.ts";
import { TableBuilder } from "../transform/columns.ts";
import { fieldsUnknown } from "../transform/document.ts";
import { isObject, type Shape, type View } from "../transform/views.ts";

const required = { required: true } as const;

export const RAW_COLUMNS: readonly Column[] = [
  text("content_id", "", "Item.", required),
  text("shape", "", "`dynamic` or `full`.", required),
  text("mode", "", "`dynamic` or `full` for a listing, `item` for a single-item request.", required),
  integer("sweep", "", "Pass.", required),
  integer("page", "", "Page of the listing.", required),
  integer("position", "", "Position on the page, from 0.", required),
  bigint("observation", "", "Position in the order of observation.", required),
  timestamp("observed_at", "", "The answer's `Date`.", required),
  integer("unknown_fields", "", "Fields of the document that the specification does not know.", required),
  text("sha256", "", "SHA-256 of the document as it is kept.", required),
  json("document", "", "The document, after the personal-data policy.", required),
];

export interface RawDocument {
  readonly contentId: string;
  readonly mode: "dynamic" | "full" | "item";
  readonly sweep: number;
  readonly page: number;
  readonly position: number;
  readonly view: View;
}

/** What a file must be for its content to be believed again later. */
export interface WrittenFile {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/** Writes raw documents in the order given. */
export function writeRaw(
  file: string,
  documents: readonly RawDocument[],
  compression: PartCompression,
): WrittenFile {
  const builder = new TableBuilder({ columns: RAW_COLUMNS });
  for (const { contentId, mode, sweep, page, position, view } of documents) {
    const document = JSON.stringify(view.document);
    builder.append([
      contentId,
      view.shape,
      mode,
      sweep,
      page,
      position,
      view.order,
      view.observedAt,
      view.unknown.length,
      hash("sha256", document),
      document,
    ]);
  }
  const written = writePart(file, builder.take(), compression);
  return { bytes: written.length, sha256: hash("sha256", written) };
}

const READ_COLUMNS = ["content_id", "shape", "observation", "observed_at", "unknown_fields", "document"];

/** The views in raw files, by item, the latest observation first. */
export function readRaw(files: readonly string[]): Map<string, View[]> {
  const byItem = new Map<string, View[]>();
  for (const file of files) {
    for (const { contentId, view } of viewsIn(file)) {
      const views = byItem.get(contentId);
      if (views === undefined) byItem.set(contentId, [view]);
      else views.push(view);
    }
  }
  for (const views of byItem.values()) views.sort((a, b) => b.order - a.order);
  return byItem;
}

/** The views in a raw file, in the order in which they were written. */
export function* viewsIn(file: string): Generator<{ contentId: string; view: View }> {
  const table = readPart(file, READ_COLUMNS);
  for (const batch of table.batches) {
    const column = (name: string) => batch.getChild(name);
    for (let row = 0; row < batch.numRows; row++) {
      const document = parseJson(String(column("document")?.get(row)));
      if (!isObject(document)) throw new TypeError(`${file} holds a document that is not an object`);
      const shape: Shape = column("shape")?.get(row) === "full" ? "full" : "dynamic";
      const view: View = {
        shape,
        document,
        order: Number(column("observation")?.get(row)),
        observedAt: microseconds(column("observed_at"), row),
        unknown: column("unknown_fields")?.get(row) === 0 ? [] : fieldsUnknown(shape, document),
      };
      yield { contentId: String(column("content_id")?.get(row)), view };
    }
  }
}

/** Arrow gives instants in milliseconds; the column holds microseconds. */
function microseconds(column: { get(row: number): unknown } | null, row: number): number {
  return Math.round(Number(column?.get(row)) * 1000);
}
