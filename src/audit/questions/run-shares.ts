/** Reads how many mapped values each destination had in the runs of the history. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col } from "../../common/answer.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { loadSql } from "../queries.ts";

const required = { required: true } as const;

const RUN_SHARE = {
  destination_id: col.text(required),
  sequence: col.count(required),
  mapped: col.count(required),
  missing: col.count(required),
} as const;
export type RunShare = AnswerRow<typeof RUN_SHARE>;

/** Runs of a picture. */
const RUNS_DRAWN = 60;

/** The latest runs, oldest first, without destinations that received no values then. */
export function readRunShares(connection: DuckDBConnection): Promise<RunShare[]> {
  return readRows(connection, RUN_SHARE, loadSql("report_shares"), [RUNS_DRAWN]);
}
