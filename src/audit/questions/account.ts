/** How a run went, by what it says of itself before it is published. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col } from "../../common/answer.ts";
import { VERDICTS } from "../../common/verdict.ts";
import { readRows } from "../../storage/typed-rows.ts";

const required = { required: true } as const;

const RUN = {
  run: col.text(required),
  sequence: col.count(required),
  pipeline: col.text(required),
  instanceUrl: col.text(required),
  startedAt: col.instant(required),
  endedAt: col.instant(required),
  verdict: col.text({ ...required, of: VERDICTS }),
  reason: col.text(),
  itemsListed: col.count(required),
  itemsLoaded: col.count(required),
  itemsRejected: col.count(required),
  itemsRemoved: col.count(required),
  itemsUnread: col.count(required),
  personalData: col.text(required),
  packageVersion: col.text(required),
  duckdbVersion: col.text(required),
  nodeVersion: col.text(required),
} as const;
export type RunAccount = AnswerRow<typeof RUN>;

/** What a run has for the URL of a service where it read the sample. */
export const SAMPLE = "sample";

export async function readAccount(connection: DuckDBConnection): Promise<RunAccount> {
  const [run] = await readRows(connection, RUN, "FROM run");
  if (run === undefined) throw new TypeError("the run has no row in run");
  return run;
}

/**
 * What people call the instance: its name where the run has one for all of its rows, else the host of the service.
 * `tables`: those of the run.
 */
export async function instanceName(
  connection: DuckDBConnection,
  { instanceUrl }: Pick<RunAccount, "instanceUrl">,
  tables: Iterable<string>,
): Promise<string> {
  const names = new Set(tables).has("instances")
    ? await readRows(connection, { name: col.text() }, "SELECT DISTINCT name FROM instances WHERE name <> ''")
    : [];
  const [only, ...others] = names;
  if (only?.name != null && others.length === 0) return only.name;
  return instanceUrl === SAMPLE ? "The sample" : new URL(instanceUrl).host;
}
