/** Parquet files of staged parts and raw documents. A file appears only when it is complete, and only its owner can read it. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type ParquetColumns, readColumns } from "./parquet/read.ts";
import { ParquetWriter } from "./parquet/write.ts";
import type { RowBatch } from "./table-builder.ts";

/** A staged Parquet file of one table. */
export interface StagedPart {
  /** Absolute path. */
  readonly file: string;
  readonly rows: number;
  /** Lowest `content_id` in the part, by UTF-8 bytes; used only if the table's key begins with it. */
  readonly firstKey: string;
  /** Highest `content_id` in the part. */
  readonly lastKey: string;
}

export function sumOfRows(parts: readonly { readonly rows: number }[]): number {
  return parts.reduce((total, part) => total + part.rows, 0);
}

/** Writes Parquet files in the calling thread. */
export class PartWriter {
  readonly #parquet = new ParquetWriter();
  /** Folders that exist. */
  readonly #folders = new Set<string>();

  /** Writes a file under a temporary name and renames it. Gives its bytes. */
  write(file: string, rows: RowBatch): Uint8Array {
    const bytes = this.#parquet.file(rows);
    const folder = dirname(file);
    if (!this.#folders.has(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folders.add(folder);
    const temporary = `${file}.tmp`;
    writeFileSync(temporary, bytes, { mode: 0o600 });
    renameSync(temporary, file);
    return bytes;
  }
}

/** Opens a file. Reading damaged parts throws a TypeError that names the file. */
export function readPart(file: string): ParquetColumns {
  const bytes = readFileSync(file);
  const columns = naming(file, () => readColumns(bytes));
  return { ...columns, cells: (name) => naming(file, () => columns.cells(name)) };
}

function naming<Result>(file: string, read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    throw new TypeError(`${file} cannot be read: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
}
