/** The database of a published run, made again from its Parquet files. */
import { addAbortListener } from "node:events";
import type { LoadTable } from "../pipeline.ts";
import { type BuildSettings, openForBuilding, openForScanning, scalar } from "../storage/duckdb.ts";
import { exactPattern, quoteLiteral } from "../storage/sql-text.ts";
import { createFilledTable } from "./filled-table.ts";
import { createViewsAndMacros } from "./macros.ts";
import { memoryLimitMb, ROWS_OF_A_VECTOR } from "./range-bounds.ts";

interface DatabaseRequest extends Pick<BuildSettings, "file" | "staging" | "temporaryDirectory"> {
  /** All tables of the run; their files lie in `staging`. */
  readonly tables: readonly Pick<LoadTable, "table" | "files">[];
  /** Ends the work, the statement under way included: it fails then. */
  readonly signal: AbortSignal;
}

/** Makes the tables, the views and the macros of a run. The same rows as before; not the same bytes. */
export async function makeDatabaseAgain({ tables, signal, ...place }: DatabaseRequest): Promise<void> {
  const limit = memoryLimitMb(
    await heaviestVector(
      place,
      tables.flatMap(({ files }) => files),
    ),
  );
  await using database = await openForBuilding({ ...place, memoryLimitMb: limit, previous: undefined });
  using _interrupting = addAbortListener(signal, () => database.interrupt());
  for (const { table, files } of tables) {
    signal.throwIfAborted();
    await createFilledTable(database.connection, table, files);
  }
  await createViewsAndMacros(database.connection, new Set(tables.map(({ table }) => table.name)));
  await database.close();
}

/** Most bytes that the rows which the database works on at once have, roughly. */
async function heaviestVector(
  { staging, temporaryDirectory }: Pick<DatabaseRequest, "staging" | "temporaryDirectory">,
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
