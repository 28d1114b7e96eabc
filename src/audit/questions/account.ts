/** How a run went, by what it says of itself before it is published. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { flag, instant, integer, rowsOf } from "../rows.ts";

const runRow = z.object({
  run: z.string(),
  sequence: integer,
  pipeline: z.string(),
  instanceUrl: z.string(),
  startedAt: instant,
  endedAt: instant,
  verdict: z.enum(["complete", "unsettled"]),
  reason: z.string().nullable(),
  itemsListed: integer,
  itemsLoaded: integer,
  itemsRejected: integer,
  itemsRemoved: integer,
  itemsUnread: integer,
  /** A run of an earlier version does not say. */
  requestsRefused: integer.default(0),
  ratePerSecond: z.number().nullable().default(null),
  passthrough: flag,
  personalData: z.string(),
  packageVersion: z.string(),
  duckdbVersion: z.string(),
  nodeVersion: z.string(),
});
export type RunAccount = Readonly<z.output<typeof runRow>>;

export async function readAccount(connection: DuckDBConnection): Promise<RunAccount> {
  const [run] = await rowsOf(connection, runRow, "FROM run");
  if (run === undefined) throw new TypeError("the run has no row in run");
  return run;
}

const destinationRow = z.object({ destinationId: z.string() });

/** IDs of destinations that only mappings name. */
export async function namelessDestinations(connection: DuckDBConnection): Promise<string[]> {
  const rows = await rowsOf(
    connection,
    destinationRow,
    `SELECT DISTINCT destination_id FROM destinations SEMI JOIN custom_field_mappings USING (destination_id)
     WHERE identification IS NULL ORDER BY destination_id`,
  );
  return rows.map(({ destinationId }) => destinationId);
}
