/** Proves that the history of a run that is made anew tells the same past. */
import { isDeepStrictEqual } from "node:util";
import { WarehouseError } from "../common/errors.ts";
import { all, scalar } from "../storage/duckdb.ts";
import { TABLES } from "../tables/all.ts";
import { fromTable, openTables, type PublishedFiles, sourceOf } from "../warehouse/published-tables.ts";
import { hasHistory, type NewNames } from "../warehouse/replacement/numbers.ts";
import { limits } from "./search.ts";

const RUN_HISTORY = "run_history";
const INTERVALS = TABLES.filter(
  ({ stage, columns }) => stage === "history" && columns.some(({ name }) => name === "valid_to_run"),
).map(({ name }) => name);

/**
 * Proves that a history tells the same past under new names: its runs are in the order in which they were, and nothing
 * that ended after its beginning now ends before. Throws `verify.failed`.
 */
export async function assertSamePast(
  from: PublishedFiles,
  to: PublishedFiles,
  renamed: NewNames,
  temporaryDirectory: string,
): Promise<void> {
  if (!hasHistory(from)) return;
  const before = await pastOf(from, temporaryDirectory);
  const after = await pastOf(to, temporaryDirectory);
  const expected = before.runs.map((run) => renamed.get(run) ?? run);
  if (isDeepStrictEqual(expected, after.runs) && after.inverted <= before.inverted) return;
  throw new WarehouseError(
    "verify.failed",
    `The history of ${from.directory} would tell another past under the new numbers; nothing was erased.`,
  );
}

/** Names of the runs, in order, and how many versions end no later than they begin. */
async function pastOf(published: PublishedFiles, temporaryDirectory: string) {
  const source = sourceOf(published);
  await using database = await openTables(source, limits(temporaryDirectory));
  const { connection } = database;
  const runs = fromTable(source, RUN_HISTORY);
  const rows = await all(connection, `SELECT run FROM ${runs} ORDER BY sequence, run`);
  let inverted = 0;
  for (const table of INTERVALS.filter((name) => Object.hasOwn(published.manifest.rows, name))) {
    inverted += await scalar(
      connection,
      `SELECT count(*) FROM ${fromTable(source, table)} AS version
       JOIN ${runs} AS first ON first.run = version.valid_from_run
       JOIN ${runs} AS last ON last.run = version.valid_to_run
       WHERE last.sequence <= first.sequence`,
    );
  }
  return { runs: rows.map(({ run }) => String(run)), inverted };
}
