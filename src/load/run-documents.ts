/** Queries for the tables `run_requests` and `run_documents`. */
import { excludedItems } from "../raw/extract-record.ts";
import type { RawFolder } from "../raw/raw-folder.ts";
import { emptyColumns } from "../storage/ddl.ts";
import type { SqlQuery } from "../storage/duckdb.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { requests } from "../tables/run.ts";
import { loadSql } from "./load-sql.ts";

/** Rows of `run_requests`. */
export function requestsQuery({ requests: parts }: RawFolder): SqlQuery {
  const files = parts.map(({ file }) => file);
  const text =
    files.length === 0 ? `SELECT ${emptyColumns(requests)} WHERE false` : `FROM ${readParquet(files)}`;
  return { text, params: [] };
}

/** Rows of `run_documents`: which raw documents count, and where each came from. `undefined` if the run keeps none. */
export function documentsQuery(landed: RawFolder): SqlQuery | undefined {
  const { itemFiles, facts } = landed;
  if (itemFiles.length === 0) return undefined;
  const text = loadSql("run_documents")
    .replace("FROM raw_files", () => `FROM ${rawDocuments(itemFiles)}`)
    .replace("FROM request_files", () => `FROM (${requestsQuery(landed).text})`);
  return { text, params: [JSON.stringify(excludedItems(facts))] };
}

/** The documents in raw files, without their text, and with the digests that they had when answered. */
function rawDocuments(files: readonly string[]): string {
  return `(
    SELECT
      content_id, shape, mode, pass, page, position, whole, observation, observed_at,
      coalesce(nullif(answer_sha256, ''), sha256) AS sha256,
      nullif(read_by_run, '') AS read_by_run
    FROM ${readParquet(files)}
  )`;
}
