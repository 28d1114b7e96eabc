import type { DuckDBConnection } from "@duckdb/node-api";
import type { Table } from "../tables/declare.ts";
import { isBounded, overlaps, type Range, rangeConditions, whereClause } from "../storage/id-ranges.ts";
import { parquetColumns } from "../storage/ddl.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { filesByGeneration, type StagedPart } from "./parts.ts";
import type { Query } from "../storage/query.ts";
import { countSuperseded, isSuperseded } from "./superseded.ts";

/**
 * Staged rows of a range, as they were staged: for `item` tables without those that a later generation of their item
 * replaces. Undefined where no part can have a row.
 */
export function stagedRows(
  table: Table,
  staged: readonly StagedPart[],
  range: Range,
  superseded: string | undefined,
): Query | undefined {
  const parts = isBounded(range) ? staged.filter((part) => overlaps(part, range)) : staged;
  if (parts.length === 0) return undefined;
  const { conditions, params } = rangeConditions(table, range);
  const branches = [...filesByGeneration(parts)].map(([generation, files]) => {
    const latest = superseded === undefined ? [] : [`NOT ${isSuperseded(superseded, generation)}`];
    const where = whereClause([...conditions, ...latest]);
    return `SELECT ${parquetColumns(table)} FROM ${readParquet(files)} part${where}`;
  });
  return { text: branches.join(" UNION ALL "), params };
}

/** Number of staged rows that a later generation of their item replaces. */
export async function supersededRows(
  connection: DuckDBConnection,
  staged: readonly StagedPart[],
  superseded: string | undefined,
): Promise<number> {
  if (superseded === undefined) return 0;
  let rows = 0;
  for (const [generation, files] of filesByGeneration(staged)) {
    rows += await countSuperseded(connection, superseded, generation, files);
  }
  return rows;
}
