import { ParquetWriter } from "../../../src/storage/parquet/write.ts";
import { type Cell, TableBuilder } from "../../../src/storage/table-builder.ts";
import { type Column, column } from "../../../src/tables/declare.ts";

/** Parquet files of a few rows. */

export const TYPED = [
  column("id", "text", { comment: "A column.", required: true }),
  column("note", "text", { comment: "A column." }),
  column("seen", "timestamp", { comment: "A column." }),
  column("day", "date", { comment: "A column." }),
];
const writer = new ParquetWriter();

export function fileOf(columns: readonly Column[], rows: readonly (readonly Cell[])[]): Buffer {
  const builder = new TableBuilder({ columns });
  for (const row of rows) builder.append(row);
  return builder.take((batch) => writer.file(batch));
}

/** A cell as it was read, its bytes as text. */
export const plain = (cell: unknown) => (Buffer.isBuffer(cell) ? cell.toString() : cell);
