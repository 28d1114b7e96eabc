/** Runs that the histories name, also those whose files are gone: they keep their places when runs are numbered anew. */
import { WarehouseError } from "../../common/errors.ts";
import { all, scalar } from "../../storage/duckdb.ts";
import { TABLES } from "../../tables/all.ts";
import { parseRunName, type RunIdentity } from "../layout.ts";
import { openRun, type PublishedFiles, sourcesOf } from "./published-rows.ts";

const RUN_HISTORY = "run_history";
const INTERVALS = TABLES.filter(
  ({ stage, columns }) => stage === "history" && columns.some(({ name }) => name === "valid_to_run"),
).map(({ name }) => name);

/** The runs that a run's history names, in no order; none where it has no history. */
export async function namedInHistory(
  published: PublishedFiles,
  temporaryDirectory: string,
): Promise<RunIdentity[]> {
  await using history = await openHistory(published, temporaryDirectory);
  const named = (await history?.names()) ?? [];
  return named.flatMap((name) => parseRunName(name) ?? []);
}

/**
 * Proves that a history tells the same past under new names: its runs are in the order in which they were, and nothing
 * that ended after its beginning now ends before. Throws `verify.failed`.
 */
export async function assertSamePast(
  from: PublishedFiles,
  to: PublishedFiles,
  renamed: ReadonlyMap<string, string>,
  temporaryDirectory: string,
): Promise<void> {
  await using before = await openHistory(from, temporaryDirectory);
  await using after = await openHistory(to, temporaryDirectory);
  if (before === undefined || after === undefined) return;
  const expected = (await before.inOrder()).map((run) => renamed.get(run) ?? run);
  const found = await after.inOrder();
  const same = expected.length === found.length && expected.every((run, index) => run === found[index]);
  if (same && (await after.inverted()) <= (await before.inverted())) return;
  throw new WarehouseError(
    "verify.failed",
    `The history of ${from.directory} would tell another past under the new numbers; nothing was erased.`,
  );
}

interface History extends AsyncDisposable {
  /** Names of runs, as often as rows have them. */
  names(): Promise<string[]>;
  inOrder(): Promise<string[]>;
  /** Versions that end no later than they begin. */
  inverted(): Promise<number>;
}

async function openHistory(
  published: PublishedFiles,
  temporaryDirectory: string,
): Promise<History | undefined> {
  const { rows } = published.manifest;
  if (!Object.hasOwn(rows, RUN_HISTORY)) return undefined;
  const database = await openRun(published, temporaryDirectory);
  const { connection } = database;
  const sources = async (table: string) => (await sourcesOf(published, table)).map(({ from }) => from);
  const runsIn = async (sql: string) => (await all(connection, sql)).map(({ run }) => String(run));
  const union = (froms: readonly string[]) =>
    `(${froms.map((from) => `SELECT * FROM ${from}`).join(" UNION ALL BY NAME ")})`;
  const runs = union(await sources(RUN_HISTORY));
  return {
    names: () =>
      runsIn(`SELECT run FROM ${runs}
        UNION SELECT previous_run FROM ${runs} WHERE previous_run IS NOT NULL`),
    inOrder: () => runsIn(`SELECT run FROM ${runs} ORDER BY sequence, run`),
    inverted: async () => {
      let found = 0;
      for (const table of INTERVALS.filter((name) => Object.hasOwn(rows, name))) {
        for (const from of await sources(table)) {
          const query = `SELECT count(*) FROM ${from} AS version
            JOIN ${runs} AS first ON first.run = version.valid_from_run
            JOIN ${runs} AS last ON last.run = version.valid_to_run
            WHERE last.sequence <= first.sequence`;
          found += await scalar(connection, query);
        }
      }
      return found;
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
