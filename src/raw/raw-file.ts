/** Writes and reads raw files: a row for each document, after the personal-data policy. README.md describes the columns. */
import { isAscii } from "node:buffer";
import { hash } from "node:crypto";
import { z } from "zod";
import { isObject, type JsonObject, parseExact } from "../common/json.ts";
import type { ParquetCell, ParquetColumns } from "../storage/parquet/read.ts";
import { type PartWriter, readPart } from "../storage/parquet-file.ts";
import { rowOf, TableBuilder } from "../storage/table-builder.ts";
import { bigint, boolean, type Column, integer, json, text, timestamp } from "../tables/declare.ts";
import type { ItemDocument, UnknownField } from "./document.ts";
import { driftEntry, type ResponseDrift } from "./drift.ts";
import { type LookupResource, type RawShape, unknownFields } from "./unknown-fields.ts";

const COLUMNS = {
  content_id: text,
  shape: text,
  mode: text,
  pass: integer,
  page: integer,
  position: integer,
  whole: boolean,
  observation: bigint,
  observed_at: timestamp,
  unknown_fields: integer,
  large_numbers: boolean,
  sha256: text,
  fingerprint: text,
  answer_drift: json,
  answer_sha256: text,
  read_by_run: text,
  document: json,
} as const;

export const RAW_COLUMNS: readonly Column[] = Object.entries(COLUMNS).map(([name, column]) =>
  column(name, { comment: "", required: true }),
);

const responseDrift = driftEntry.omit({ example: true });

/** What a later run needs to reuse a document. */
interface ReuseRecord {
  /** Fingerprint of the item's dynamic listing document; blank if the document must not be reused. */
  readonly fingerprint: string;
  /** Drift of the response that the document no longer shows. */
  readonly drift: readonly ResponseDrift[];
  /** The earlier run that read the document, and its SHA-256 there; `null` if this run read it. */
  readonly earlier: { readonly run: string; readonly sha256: string } | null;
}

/** The fingerprint of a document that must not be reused. */
export const NO_FINGERPRINT = "";

export const NOT_REUSED: ReuseRecord = { fingerprint: NO_FINGERPRINT, drift: [], earlier: null };

/** A document to write to a raw file. */
export interface RawDocument {
  readonly contentId: string;
  readonly mode: "dynamic" | "full" | "item";
  readonly pass: number;
  readonly page: number;
  readonly position: number;
  /** Whether all configured columns were requested. */
  readonly whole: boolean;
  readonly view: Omit<ItemDocument, "document" | "unknown">;
  readonly unknownFields: number;
  /** Whether it may hold integers beyond 2^53, or exponents. */
  readonly largeNumbers: boolean;
  readonly reuse: ReuseRecord;
  /** Its JSON text in UTF-8. Pieces may belong to the buffer of the page, which is released after writing. */
  readonly document: readonly Uint8Array[];
}

/** Lookups of what the documents of items refer to. */
export type LookupMode = "destinations" | "custom_fields";

/** A row of a lookup to write to a raw file. `contentId` is the ID of the destination or custom field. */
interface LookupDocument extends Omit<RawDocument, "mode" | "view"> {
  readonly mode: LookupMode;
  readonly view: Omit<RawDocument["view"], "shape"> & { readonly shape: LookupResource };
}

/** A row of a lookup, read from a raw file. */
export interface RawLookup {
  readonly id: string;
  readonly answer: JsonObject;
  readonly unknown: readonly UnknownField[];
}

/** What the tables of definitions are made from. */
export interface RawLookups {
  readonly destinations: readonly RawLookup[];
  /** Custom fields with their mappings. */
  readonly definitions: readonly RawLookup[];
}

/** Size and digest of a file, to verify it later. */
export interface WrittenFile {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/** 1 MB: larger than nearly every document. */
const BUFFER_BYTES = 1024 * 1024;

/** Writes raw files, one after another, with the same buffers. */
export class RawFileWriter {
  readonly #parts: PartWriter;
  readonly #builder = new TableBuilder({ columns: RAW_COLUMNS });
  readonly #buffer = new Uint8Array(BUFFER_BYTES);

  constructor(parts: PartWriter) {
    this.#parts = parts;
  }

  write(file: string, documents: readonly (RawDocument | LookupDocument)[]): WrittenFile {
    for (const document of documents) this.#append(document);
    const written = this.#builder.take((batch) => this.#parts.write(file, batch));
    return { bytes: written.length, sha256: hash("sha256", written) };
  }

  #append({ view, reuse, ...appended }: RawDocument | LookupDocument): void {
    this.#joined(appended.document, (document) => {
      const cells = {
        content_id: appended.contentId,
        shape: view.shape,
        mode: appended.mode,
        pass: appended.pass,
        page: appended.page,
        position: appended.position,
        whole: appended.whole,
        observation: view.order,
        observed_at: view.observedAt,
        unknown_fields: appended.unknownFields,
        large_numbers: appended.largeNumbers,
        sha256: hash("sha256", document),
        fingerprint: reuse.fingerprint,
        answer_drift: JSON.stringify(reuse.drift),
        answer_sha256: reuse.earlier?.sha256 ?? "",
        read_by_run: reuse.earlier?.run ?? "",
        document,
      } satisfies Record<keyof typeof COLUMNS, unknown>;
      this.#builder.append(rowOf(this.#builder, cells));
    });
  }

  /** Calls `use` with the joined text, which is valid only during the call. */
  #joined(pieces: readonly Uint8Array[], use: (text: Uint8Array) => void): void {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const buffer = length <= BUFFER_BYTES ? this.#buffer : new Uint8Array(length);
    let at = 0;
    for (const piece of pieces) {
      if (piece.length === 0) throw new TypeError("a document was released before it was written");
      buffer.set(piece, at);
      at += piece.length;
    }
    use(buffer.subarray(0, length));
  }
}

/** Reads the rows of a raw file, in the order in which they were written. */
export class RawFileReader {
  readonly #file: string;
  readonly #columns: ParquetColumns;
  /** Columns that were read. */
  readonly #cells = new Map<keyof typeof COLUMNS, ParquetCell[]>();
  #ids: readonly string[] | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#columns = readPart(file);
  }

  get ids(): readonly string[] {
    this.#ids ??= this.#columns.cells("content_id").map(textOf);
    return this.#ids;
  }

  #cell(row: number, name: keyof typeof COLUMNS): ParquetCell | undefined {
    const known = this.#cells.get(name);
    if (known !== undefined) return known[row];
    const cells = this.#columns.cells(name);
    this.#cells.set(name, cells);
    return cells[row];
  }

  about(row: number): Pick<ItemDocument, "shape" | "order" | "observedAt"> & Pick<RawDocument, "whole"> {
    return {
      shape: textOf(this.#cell(row, "shape")) === "full" ? "full" : "dynamic",
      whole: this.#cell(row, "whole") === true,
      order: Number(this.#cell(row, "observation")),
      observedAt: Number(this.#cell(row, "observed_at")),
    };
  }

  view(row: number): ItemDocument {
    const { whole: _, ...about } = this.about(row);
    return { ...about, ...this.#documentAt(row, about.shape) };
  }

  /** The listing page of each row; `undefined` if the item was requested singly. */
  listed(): ({ readonly pass: number; readonly page: number } | undefined)[] {
    return this.ids.map((_, row) =>
      textOf(this.#cell(row, "mode")) === "item"
        ? undefined
        : { pass: Number(this.#cell(row, "pass")), page: Number(this.#cell(row, "page")) },
    );
  }

  /** The fingerprint of each row, and the earlier run that read it; blank if there was none. */
  fingerprints(): { readonly fingerprint: string; readonly readByRun: string }[] {
    const runs = this.#columns.cells("read_by_run");
    return this.#columns.cells("fingerprint").map((cell, row) => {
      return { fingerprint: textOf(cell), readByRun: textOf(runs[row]) };
    });
  }

  /** A row with its reuse record. `ownRun`: the run that wrote the file. */
  reusable(row: number, ownRun: string): ItemDocument & Pick<RawDocument, "reuse" | "largeNumbers"> {
    const text = (name: keyof typeof COLUMNS) => textOf(this.#cell(row, name));
    const readBy = text("read_by_run");
    const earlier =
      readBy === ""
        ? { run: ownRun, sha256: text("sha256") }
        : { run: readBy, sha256: text("answer_sha256") };
    const drift = z.array(responseDrift).parse(JSON.parse(text("answer_drift")));
    return {
      ...this.view(row),
      largeNumbers: this.#cell(row, "large_numbers") !== false,
      reuse: { fingerprint: text("fingerprint"), drift, earlier },
    };
  }

  /** A row of a lookup's file. */
  answer(row: number): RawLookup {
    const shape = textOf(this.#cell(row, "shape"));
    const resource: LookupResource = shape === "destination" ? shape : "custom_field_definition";
    const { document: answer, unknown } = this.#documentAt(row, resource);
    return { id: this.ids[row] ?? "", answer, unknown };
  }

  /** Errors here are not the service's, so the request must not be repeated. */
  #documentAt(row: number, shape: RawShape): Pick<ItemDocument, "document" | "unknown"> {
    try {
      const text = textOf(this.#cell(row, "document"));
      const document: unknown =
        this.#cell(row, "large_numbers") === false ? JSON.parse(text) : parseExact(text);
      if (!isObject(document)) throw new TypeError("a raw document is not an object");
      const hasUnknown = Number(this.#cell(row, "unknown_fields")) !== 0;
      return { document, unknown: hasUnknown ? unknownFields(shape, document) : [] };
    } catch (cause) {
      throw new TypeError(`${this.#file} holds a document that cannot be read`, { cause });
    }
  }

  /** Releases the memory of the file, which may be megabytes outside of the heap. */
  [Symbol.dispose](): void {
    this.#columns[Symbol.dispose]();
  }
}

/** Decodes a text. Most texts are ASCII, which is faster to decode as Latin-1. */
function textOf(cell: ParquetCell | undefined): string {
  if (!Buffer.isBuffer(cell)) throw new TypeError("a raw file has no text where there must be one");
  return cell.toString(isAscii(cell) ? "latin1" : "utf8");
}
