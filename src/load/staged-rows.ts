import { parquetColumns } from "../storage/ddl.ts";
import { isBounded, overlaps, type Range, rangeConditions, whereClause } from "../storage/id-ranges.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import type { Query } from "../storage/query.ts";
import type { StagedPart } from "../storage/staged-part.ts";
import type { Table } from "../tables/declare.ts";

/** Staged rows of a range, as they were staged. Undefined where no part can have a row. */
export function stagedRows(table: Table, staged: readonly StagedPart[], range: Range): Query | undefined {
  const parts = isBounded(range) ? staged.filter((part) => overlaps(part, range)) : staged;
  if (parts.length === 0) return undefined;
  const { conditions, params } = rangeConditions(table, range);
  const files = parts.map(({ file }) => file);
  return {
    text: `SELECT ${parquetColumns(table)} FROM ${readParquet(files)}${whereClause(conditions)}`,
    params,
  };
}
