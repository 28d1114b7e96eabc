/** The query of the table `run_documents`: which raw documents count, and where each came from. */
import type { Landed } from "../raw/read-raw.ts";
import { emptyColumns } from "../storage/ddl.ts";
import type { Query } from "../storage/duckdb.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { requests } from "../tables/run.ts";
import { loadSql } from "./load-sql.ts";

export function documentsQuery({ itemFiles, requests: parts, facts }: Landed): Query | undefined {
  if (itemFiles.length === 0) return undefined;
  const files = parts.map(({ file }) => file);
  const asked = files.length === 0 ? `(SELECT ${emptyColumns(requests)} WHERE false)` : readParquet(files);
  const text = loadSql("run_documents")
    .replace("FROM raw_files", () => `FROM ${readParquet(itemFiles)}`)
    .replace("FROM request_files", () => `FROM ${asked}`);
  return { text, params: [JSON.stringify([...facts.vanished, ...facts.removed])] };
}
