/**
 * Raw documents: each answer's document as it is kept, after the personal-data policy, one row each. They are the
 * evidence behind an audit, what the views of an item are paired from, and what a later transform can be made from.
 */
import { isAscii } from "node:buffer";
import { createHash, hash } from "node:crypto";
import { parseJson } from "../extract/decode.ts";
import { readPart, writePart } from "../load/part.ts";
import type { Cell } from "../parquet/read.ts";
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

/** Writes raw files, one after another: a large buffer for each would cost more than what is put into it. */
export class RawWriter {
  readonly #builder = new TableBuilder({ columns: RAW_COLUMNS });

  /** Writes documents in the order given. */
  write(file: string, documents: readonly RawDocument[]): WrittenFile {
    for (const document of documents) this.#append(document);
    return this.#builder.take((pieces) => {
      writePart(file, pieces);
      return writtenFile(pieces);
    });
  }

  #append({ contentId, mode, sweep, page, position, view }: RawDocument): void {
    const document = JSON.stringify(view.document);
    this.#builder.append([
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
}

function writtenFile(pieces: readonly Uint8Array[]): WrittenFile {
  const digest = createHash("sha256");
  let bytes = 0;
  for (const piece of pieces) {
    digest.update(piece);
    bytes += piece.length;
  }
  return { bytes, sha256: digest.digest("hex") };
}

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
  const { rows, cells } = readPart(file);
  const [ids, shapes, orders, instants] = [
    cells("content_id"),
    cells("shape"),
    cells("observation"),
    cells("observed_at"),
  ];
  const [unknown, documents] = [cells("unknown_fields"), cells("document")];
  for (let row = 0; row < rows; row++) {
    const document = parseJson(textOf(documents[row]));
    if (!isObject(document)) throw new TypeError(`${file} holds a document that is not an object`);
    const shape: Shape = textOf(shapes[row]) === "full" ? "full" : "dynamic";
    const view: View = {
      shape,
      document,
      order: Number(orders[row]),
      observedAt: Number(instants[row]),
      unknown: unknown[row] === 0 ? [] : fieldsUnknown(shape, document),
    };
    yield { contentId: textOf(ids[row]), view };
  }
}

/** Most texts are ASCII, which is known at once, and is then a text without a look at each character. */
function textOf(cell: Cell | undefined): string {
  if (!Buffer.isBuffer(cell)) throw new TypeError("a raw file has no text where there must be one");
  return cell.toString(isAscii(cell) ? "latin1" : "utf8");
}
