/** Statistics of data files, as their `add` has them. */
import { z } from "zod";
import { parseIfJson } from "../../../common/json.ts";
import type { AddAction } from "./actions.ts";

/**
 * Property of every table that we make: it names no column whose bounds all files have. Readers take the first 32 columns to
 * have some, and deltalake's pyarrow dataset, and with it polars and DuckDB, leaves out every row of a file that lacks them.
 */
export const NO_COMPLETE_STATISTICS = { "delta.dataSkippingNumIndexedCols": "0" };

export interface FileStatistics {
  readonly rows: number;
  /** Of a column without NULLs; null: they are not known. */
  readonly bounds: {
    readonly column: string;
    readonly min: string | number;
    readonly max: string | number;
  } | null;
}

/** As JSON, for an `add`. */
export function statisticsText({ rows, bounds }: FileStatistics): string {
  if (bounds === null) return JSON.stringify({ numRecords: rows });
  const { column, min, max } = bounds;
  return JSON.stringify({
    numRecords: rows,
    minValues: { [column]: min },
    maxValues: { [column]: max },
    nullCount: { [column]: 0 },
  });
}

const statistics = z.object({ numRecords: z.int().nonnegative() });

/** Rows of a file, as the log says; null: it does not. */
export function recordsOf({ stats }: Pick<AddAction, "stats">): number | null {
  return statistics.safeParse(parseIfJson(stats ?? "")).data?.numRecords ?? null;
}
