import { join } from "node:path";
import { WarehouseError } from "../../common/errors.ts";
import { DATABASE_FILE, outputFolder } from "../../warehouse/layout.ts";
import { findRun } from "../../warehouse/retention.ts";

/**
 * The file of the database that `current` names now: the link is read once, so that a publication meanwhile changes
 * nothing. Throws `config.not_found` where there is none.
 */
export async function currentDatabase(warehouse: string): Promise<string> {
  const folder = outputFolder(warehouse);
  const { run, directory, manifest } = await findRun(folder, "current");
  if (manifest instanceof WarehouseError) throw manifest;
  if (manifest.loaders.includes("duckdb")) return join(directory, DATABASE_FILE);
  throw new WarehouseError(
    "config.not_found",
    `Run ${run} was published as Parquet files alone; read ${join(folder.current, "parquet")} with DuckDB or another engine.`,
  );
}
