/** The step of the history, in a process of its own: fills and writes the tables. Prints what it took. */
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import type { PreviousHistory } from "../../src/load/history-previous.ts";
import type { Connections } from "../../src/storage/parallel.ts";
import { built } from "./built.ts";
import { type HistoryNight, itemBounds, type WrittenHistory } from "./history-nights.ts";
import { type Measured, measured } from "./measured.ts";

const { keepPoolSmall } = await built<typeof import("../../src/cli/threadpool.ts")>("cli/threadpool");
keepPoolSmall();
const { keepHeapsSmall } = await built<typeof import("../../src/common/v8-flags.ts")>("common/v8-flags");
const { exportTables } = await built<typeof import("../../src/load/load-table.ts")>("load/load-table");
const { createTable } = await built<typeof import("../../src/storage/ddl.ts")>("storage/ddl");
const { all, scalar, openForBuilding } =
  await built<typeof import("../../src/storage/duckdb.ts")>("storage/duckdb");
const { fillHistory, HISTORY_ROWS_PER_RANGE } =
  await built<typeof import("../../src/load/history.ts")>("load/history");
const { readParquet } = await built<typeof import("../../src/storage/parquet-sql.ts")>("storage/parquet-sql");
const { prepareMappings } = await built<typeof import("../../src/load/steps.ts")>("load/steps");
const { memoryLimitMb } = await built<typeof import("../../src/load/range-bounds.ts")>("load/range-bounds");
const { runName } = await built<typeof import("../../src/warehouse/layout.ts")>("warehouse/layout");
const { HISTORY_TABLES, VALUE_COLUMNS } =
  await built<typeof import("../../src/tables/history.ts")>("tables/history");

export interface HistoryTook extends Measured {
  readonly written: WrittenHistory;
  readonly fillSeconds: number;
  readonly writeSeconds: number;
  readonly ledgerRows: number;
  readonly historyRows: number;
  /** Versions that began this night, by cause. */
  readonly causes: Readonly<Record<string, number>>;
  /** Whether the open versions are what the ledger has. */
  readonly correct: boolean;
}

keepHeapsSmall();
const night: HistoryNight = JSON.parse(process.argv[2] ?? "");
await using database = await openForBuilding({
  file: night.database,
  staging: night.directory,
  temporaryDirectory: night.temporaryDirectory,
  memoryLimitMb: memoryLimitMb(0),
  previous: night.previous && { directory: night.previous.directory },
});
process.stdout.write(`${JSON.stringify(await step([database.connection, await database.connect()]))}\n`);

async function step(connections: Connections): Promise<HistoryTook> {
  const [connection] = connections;
  const { sequence, directory } = night;
  for (const each of connections) await prepareMappings(each);
  const startedAt = new Date(Date.UTC(2026, 0, sequence, 2));
  const run = runName(sequence, startedAt);
  const cpuBefore = measured().cpuSeconds;
  const began = performance.now();
  for (const table of HISTORY_TABLES) await createTable(connection, table);
  const bounds = await fillHistory(connections, {
    run: {
      run,
      sequence,
      startedAt,
      extractedMs: startedAt.getTime(),
      pipeline: "bench",
      verdict: "complete",
      packageVersion: "0",
    },
    passthrough: false,
    previous: previousOf(night.previous),
    absences: { confirmed: new Set(), unread: new Set(), listIsWhole: true },
    itemBounds: itemBounds(night.items),
    rowsPerRange: HISTORY_ROWS_PER_RANGE,
  });
  const filled = performance.now();
  const files: Record<string, readonly string[]> = {};
  let historyRows = 0;
  const place = { finalDirectory: directory, sequence };
  for (const exported of await exportTables(connections, { ...place, tables: HISTORY_TABLES, bounds })) {
    files[exported.table] = exported.files.map(({ path }) => join(directory, path));
    historyRows += exported.rows;
  }
  const ended = performance.now();
  const { peakMemoryMb, cpuSeconds } = measured();
  return {
    written: { run, directory, files },
    fillSeconds: (filled - began) / 1000,
    writeSeconds: (ended - filled) / 1000,
    cpuSeconds: cpuSeconds - cpuBefore,
    peakMemoryMb,
    ledgerRows: await scalar(connection, "SELECT count(*) FROM content_mapped_values"),
    historyRows,
    causes: await causes(connection, run),
    correct: await isCorrect(connection),
  };
}

function previousOf(previous: WrittenHistory | undefined): PreviousHistory {
  if (previous === undefined) return { kind: "none" };
  const { run, directory, files } = previous;
  const sourceOf = (table: string) => readParquet(files[table] ?? []);
  return { kind: "carried", run, access: { directory }, sourceOf, forgotten: [] };
}

async function causes(connection: DuckDBConnection, run: string): Promise<Record<string, number>> {
  const sql = "SELECT cause, count(*) AS n FROM mapped_value_history WHERE valid_from_run = $1 GROUP BY ALL";
  return Object.fromEntries(
    (await all(connection, sql, [run])).map(({ cause, n }) => [String(cause), Number(n)]),
  );
}

/** No value is repeated in a list, so each row of the ledger is one version. */
async function isCorrect(connection: DuckDBConnection): Promise<boolean> {
  const columns = [
    "content_id",
    "destination_id",
    "custom_field_id",
    ...VALUE_COLUMNS.map(({ name }) => name),
  ];
  const digest = `SELECT count(*) AS n, sum(hash(${columns.join(", ")})) AS digest`;
  const [row] = await all(
    connection,
    `SELECT history = ledger AS same FROM (${digest} FROM mapped_value_history WHERE valid_to_run IS NULL) AS history,
     (${digest} FROM content_mapped_values) AS ledger`,
  );
  return row?.same === true;
}
