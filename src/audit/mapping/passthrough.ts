/** Whether the pipeline of a run sends values of fields without value mappings as they are. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { all } from "../../storage/duckdb.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";

/** The run's own table says so. `prefix`: of the names of the run's views. */
export async function sendsAsIs(connection: DuckDBConnection, prefix = ""): Promise<boolean> {
  const [run] = await all(connection, `FROM ${quoteIdentifier(`${prefix}run`)}`);
  return run?.passthrough === true;
}

/** What becomes of such a value, in a heading. */
export function withoutValueMapping(passthrough: boolean): string {
  return `${sentOrNot(passthrough)} (no value mapping)`;
}

/** The same, where there is little room. */
export function sentOrNot(passthrough: boolean): string {
  return passthrough ? "sent as is" : "not sent";
}
