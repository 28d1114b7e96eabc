/** The queries of the tables `run_requests` and `run_documents`: which raw documents count, and where each came from. */
import { leftOut } from "../raw/extract-record.ts";
import type { Landed } from "../raw/read-raw.ts";
import { emptyColumns } from "../storage/ddl.ts";
import type { SqlQuery } from "../storage/duckdb.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { requests } from "../tables/run.ts";
import { loadSql } from "./load-sql.ts";

export function requestsQuery({ requests: parts }: Landed): SqlQuery {
  const files = parts.map(({ file }) => file);
  const text =
    files.length === 0 ? `SELECT ${emptyColumns(requests)} WHERE false` : `FROM ${readParquet(files)}`;
  return { text, params: [] };
}

/** Undefined: the run keeps no raw documents. */
export function documentsQuery(landed: Landed): SqlQuery | undefined {
  const { itemFiles, facts } = landed;
  if (itemFiles.length === 0) return undefined;
  const text = loadSql("run_documents")
    .replace("FROM raw_files", () => `FROM ${rawDocuments(itemFiles)}`)
    .replace("FROM request_files", () => `FROM (${requestsQuery(landed).text})`);
  return { text, params: [JSON.stringify(leftOut(facts))] };
}

/** The documents in raw files, as a table: without what they say, and with the digests that they had when answered. */
export function rawDocuments(files: readonly string[]): string {
  return `(
    SELECT
      content_id, shape, mode, pass, page, position, whole, observation, observed_at,
      coalesce(nullif(answer_sha256, ''), sha256) AS sha256,
      nullif(read_by_run, '') AS read_by_run
    FROM ${readParquet(files)}
  )`;
}
