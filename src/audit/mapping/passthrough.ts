/** Whether the pipeline of a run sends values of fields without value mappings as they are. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { all, scalar } from "../../storage/duckdb.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";

/**
 * The run's history, the newest row of which is the run's own, says so; of a pipeline without a history the payloads
 * tell it. `prefix`: of the names of the run's views.
 */
export async function sendsAsIs(connection: DuckDBConnection, prefix = ""): Promise<boolean> {
  const history = `${prefix}run_history`;
  const there = await scalar(
    connection,
    "SELECT count(*) FROM information_schema.tables WHERE table_name = $1",
    [history],
  );
  if (there === 0) return tellsByPayload(connection, prefix);
  const [newest] = await all(
    connection,
    `SELECT max_by(passthrough, sequence) AS passthrough FROM ${quoteIdentifier(history)}`,
  );
  return newest?.passthrough === true;
}

/** One such value is enough to tell, where no other field sends under its name. */
async function tellsByPayload(connection: DuckDBConnection, prefix: string): Promise<boolean> {
  const [values, payloads] = ["content_mapped_values", "content_external_payloads"].map((table) =>
    quoteIdentifier(`${prefix}${table}`),
  );
  const [example] = await all(
    connection,
    `SELECT content_id, destination_id, external_field_name FROM ${values}
     WHERE status = 'no_value_mapping' AND NOT collision AND value IS NOT NULL AND external_field_name IS NOT NULL
     LIMIT 1`,
  );
  if (example === undefined) return false;
  const found = await scalar(
    connection,
    `SELECT count(*) FROM ${payloads}
     WHERE content_id = $1 AND destination_id = $2 AND list_contains(json_keys(payload), $3)`,
    [example.content_id ?? null, example.destination_id ?? null, example.external_field_name ?? null],
  );
  return found > 0;
}
