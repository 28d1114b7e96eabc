/** Rebuilds the database of a published run from its Parquet files. */
import { addAbortListener } from "node:events";
import type { LoadTable } from "../pipeline.ts";
import { type BuildSettings, openForBuilding, openForScanning } from "../storage/database.ts";
import { scalar } from "../storage/duckdb.ts";
import { exactPattern, quoteLiteral } from "../storage/sql-text.ts";
import { createTableFromFiles } from "./load-table.ts";
import { memoryLimitMb, ROWS_OF_A_VECTOR } from "./range-bounds.ts";
import { createViewsAndMacros } from "./views.ts";

interface RebuildRequest extends Pick<BuildSettings, "file" | "staging" | "temporaryDirectory"> {
  /** All tables of the run; their files are in `staging`. */
  readonly tables: readonly Pick<LoadTable, "table" | "files">[];
  /** Ends the work, also the current statement, which fails then. */
  readonly signal: AbortSignal;
}

/** Makes the tables, views and macros of a run. Rows are the same as before; bytes are not. */
export async function rebuildDatabase({ tables, signal, ...folders }: RebuildRequest): Promise<void> {
  const files = tables.flatMap((each) => each.files);
  const limit = memoryLimitMb(await heaviestVectorBytes(folders, files));
  await using database = await openForBuilding({ ...folders, memoryLimitMb: limit, previous: undefined });
  using _interrupting = addAbortListener(signal, () => database.interrupt());
  for (const { table, files: paths } of tables) {
    signal.throwIfAborted();
    await createTableFromFiles(database.connection, table, paths);
  }
  await createViewsAndMacros(database.connection, new Set(tables.map(({ table }) => table.name)));
  await database.close();
}

/** Largest number of bytes in the rows that the database works on at once, roughly. */
async function heaviestVectorBytes(
  { staging, temporaryDirectory }: Pick<RebuildRequest, "staging" | "temporaryDirectory">,
  files: readonly string[],
): Promise<number> {
  const limits = { temporaryDirectory, memoryLimitMb: 64, threads: 1 };
  await using database = await openForScanning({ ...limits, allowedDirectories: [staging] });
  const list = files.map((file) => quoteLiteral(exactPattern(file))).join(", ");
  return await scalar(
    database.connection,
    `SELECT coalesce(max(bytes), 0)::BIGINT FROM (
       SELECT sum(total_uncompressed_size) * least(1, ${ROWS_OF_A_VECTOR} / any_value(row_group_num_rows)) AS bytes
       FROM parquet_metadata([${list}]) GROUP BY file_name, row_group_id
     )`,
  );
}
