/** Rows that are made on this thread, as parts like those of the transform. */
import { PartWriter, type StagedPart } from "../storage/parquet-file.ts";
import { type Cell, TableBuilder } from "../storage/table-builder.ts";
import type { Table } from "../tables/declare.ts";

/** Made when they are written, where there are many. */
export interface RunRows {
  readonly table: Table;
  readonly rows: Iterable<readonly Cell[]>;
}

/** Rows of a part: no more of them are held at once. */
const ROWS_PER_PART = 5000;

/** Writes them. `fileOf`: the absolute path of a part, by its number from 0. No part where there are no rows. */
export function stageRows({ table, rows }: RunRows, fileOf: (part: number) => string): StagedPart[] {
  const parts: StagedPart[] = [];
  const builder = new TableBuilder(table);
  const writer = new PartWriter();
  const write = () => {
    const file = fileOf(parts.length);
    parts.push({ file, rows: builder.rows, firstKey: "", lastKey: "" });
    builder.take((batch) => writer.write(file, batch));
  };
  for (const row of rows) {
    builder.append(row);
    if (builder.rows === ROWS_PER_PART) write();
  }
  if (builder.rows > 0) write();
  return parts;
}
