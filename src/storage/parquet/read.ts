/**
 * Reads columns of flat Parquet files that were written by this program or by DuckDB. It calls the part of `hyparquet` that
 * reads a column in memory; the asynchronous interface takes nearly twice as long.
 */
import { zstdDecompressSync } from "node:zlib";
import { type Compressors, parquetMetadata, parquetSchema } from "hyparquet";
import { readColumn } from "hyparquet/src/column.js";
import { DEFAULT_PARSERS } from "hyparquet/src/convert.js";
import { release } from "../../common/free-memory.ts";

/** Texts are bytes in UTF-8. Dates and instants are days and microseconds since 1970. */
export type ParquetCell = Buffer | number | bigint | boolean | null;

/**
 * The columns of a file. They own its memory, of which the bytes of texts are views. After disposal these views are empty
 * (those of a file of a few KB may stay), and no more cells can be read.
 */
export interface ParquetColumns extends Disposable {
  readonly rows: number;
  readonly has: (name: string) => boolean;
  /** The cells of a column, one per row. Throws a RangeError if the file does not have the column. */
  readonly cells: (name: string) => ParquetCell[];
}

const PARSERS = {
  ...DEFAULT_PARSERS,
  stringFromBytes: (text: Uint8Array | undefined) =>
    text && Buffer.from(text.buffer, text.byteOffset, text.byteLength),
  timestampFromMicroseconds: (microseconds: bigint) => microseconds,
  timestampFromNanoseconds: (nanoseconds: bigint) => nanoseconds / 1000n,
  dateFromDays: (days: number) => days,
};

/**
 * Reads a file and takes over its bytes. Throws for a truncated file and for most damage; only a digest proves that all
 * values are right.
 */
export function readColumns(file: Buffer): ParquetColumns {
  const metadata = parquetMetadata(file, { geoparquet: false });
  const schema = parquetSchema(metadata);
  const rows = Number(metadata.num_rows);
  const decompressed: Uint8Array[] = [];
  const compressors: Compressors = {
    ZSTD: (compressed, bytes) => {
      // One byte more, because zlib allocates another buffer when one is full.
      const chunkSize = Math.max(bytes + 1, 64);
      const plain = zstdDecompressSync(compressed, { chunkSize, maxOutputLength: Math.max(bytes, 1) });
      if (plain.buffer.byteLength === chunkSize) decompressed.push(new Uint8Array(plain.buffer));
      return plain;
    },
  };
  let released = false;
  return {
    rows,
    has: (name) => schema.children.some(({ element }) => element.name === name),
    cells: (name) => {
      if (released) throw new TypeError("the file's memory was given back");
      const column = schema.children.find(({ element }) => element.name === name);
      if (column === undefined) throw new RangeError(`the file has no column ${name}`);
      const cells = metadata.row_groups.flatMap(({ columns, num_rows }) => {
        const chunk = columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === name)?.meta_data;
        if (chunk === undefined) throw new RangeError(`a row group has no column ${name}`);
        const groupRows = Number(num_rows);
        const begin = Number(chunk.dictionary_page_offset ?? chunk.data_page_offset);
        const view = new DataView(file.buffer, file.byteOffset + begin, Number(chunk.total_compressed_size));
        const pathInSchema = chunk.path_in_schema;
        const schemaPath = [schema, column];
        const { data } = readColumn(
          { view, offset: 0 },
          { groupStart: 0, selectStart: 0, selectEnd: groupRows, groupRows },
          { ...chunk, pathInSchema, schemaPath, element: column.element, compressors, parsers: PARSERS },
        );
        return data.flatMap((page) => Array.from(page, cellOf));
      });
      if (cells.length !== rows) throw new RangeError(`the column ${name} is not as long as the file`);
      return cells;
    },
    [Symbol.dispose]: () => {
      released = true;
      for (const bytes of decompressed.splice(0)) release(bytes);
      release(file);
    },
  };
}

function cellOf(value: unknown): ParquetCell {
  switch (typeof value) {
    case "number":
    case "bigint":
    case "boolean":
      return value;
    case "undefined":
      return null;
    default:
      if (value === null || Buffer.isBuffer(value)) return value;
      throw new RangeError("the column is not flat");
  }
}
