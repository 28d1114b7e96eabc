/** How the published run is opened in tools that people have: said where a terminal asks nothing. */
import { resolve } from "node:path";
import { WarehouseError } from "../../common/errors.ts";
import { quoteLiteral } from "../../storage/sql-text.ts";
import { DATABASE_FILE, outputFolder } from "../../warehouse/layout.ts";
import { findRun } from "../../warehouse/retention.ts";
import { printableText, shellWord } from "../render/terminal.ts";

/** Paths go by `current`, so that the same line opens the next run too. Throws `config.not_found` without a run. */
export async function waysToOpen(warehouse: string): Promise<string> {
  const folder = outputFolder(warehouse);
  const { manifest } = await findRun(folder, "current");
  if (manifest instanceof WarehouseError) throw manifest;
  const current = resolve(folder.current);
  const ways = manifest.loaders.includes("duckdb")
    ? databaseWays(`${current}/${DATABASE_FILE}`)
    : parquetWays(`${current}/parquet`);
  return printableText(`${ways.join("\n")}\n`);
}

function databaseWays(file: string): string[] {
  return [
    'Give a query, or pipe one in: content-warehouse sql "SHOW TABLES"',
    "",
    "DuckDB CLI (1.4.2 or newer):",
    `  duckdb -readonly ${shellWord(file)}`,
    "Python (pip install duckdb pytz):",
    `  import duckdb; duckdb.connect(${JSON.stringify(file)}, read_only=True).sql("FROM content")`,
    'R (install.packages("duckdb")):',
    `  DBI::dbConnect(duckdb::duckdb(${JSON.stringify(file)}, read_only = TRUE))`,
  ];
}

function parquetWays(folder: string): string[] {
  return [
    "This run has Parquet files alone, and no database to query.",
    "",
    "DuckDB CLI:",
    `  duckdb -c ${shellWord(`FROM ${quoteLiteral(`${folder}/content/*.parquet`)}`)}`,
    "polars (pip install polars):",
    `  polars.read_parquet(${JSON.stringify(`${folder}/content/*.parquet`)})`,
    "pandas (pip install pandas pyarrow):",
    `  pandas.read_parquet(${JSON.stringify(`${folder}/content`)})`,
  ];
}
