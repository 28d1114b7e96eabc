/**
 * `node test/bench/history.ts [items]`: what the step of the history costs, over made-up tables: 30 mapped fields at 3
 * destinations, so 90 mapped values an item. The first night, one on which one item in a hundred changed, and one on
 * which the external name of a field did. Filling and writing the tables are timed, the ledger is not.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import type { Bounds } from "../../src/load/buckets.ts";
import { exportTable } from "../../src/load/build.ts";
import { createTable } from "../../src/load/ddl.ts";
import { all, execute, openForBuilding } from "../../src/load/duckdb.ts";
import { fillHistory, HISTORY_ROWS_PER_RANGE } from "../../src/load/history.ts";
import type { PreviousHistory } from "../../src/load/history-previous.ts";
import { readParquet } from "../../src/load/parquet.ts";
import { fillDerivedTables, LEDGER_ROWS_PER_RANGE } from "../../src/load/steps.ts";
import { runName } from "../../src/run/directory.ts";
import { DATA_TABLES } from "../../src/tables/all.ts";
import { HISTORY_TABLES } from "../../src/tables/history.ts";

const items = Number(process.argv[2] ?? 100_000);
const FIELDS = 30;
const DESTINATIONS = 3;
const BUCKET_ITEMS = 16_000;

/** What is different from the first night: items of which one in `everyItem` changed, and the name of the first field. */
interface Difference {
  readonly night: string;
  readonly everyItem: number;
  readonly name: string;
}

const NIGHTS: readonly Difference[] = [
  { night: "first", everyItem: 0, name: "name 0" },
  { night: "one item in a hundred changed", everyItem: 100, name: "name 0" },
  { night: "an external field name changed", everyItem: 100, name: "another name" },
];

const folder = await mkdtemp(join(tmpdir(), "history-bench-"));
try {
  let previous: PreviousHistory = { kind: "none" };
  for (const [at, difference] of NIGHTS.entries()) previous = await night(at + 1, difference, previous);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function night(
  sequence: number,
  difference: Difference,
  previous: PreviousHistory,
): Promise<PreviousHistory> {
  const directory = join(folder, String(sequence));
  await mkdir(join(directory, "tmp"), { recursive: true });
  await using database = await openForBuilding({
    file: join(directory, "warehouse.duckdb"),
    staging: directory,
    temporaryDirectory: join(directory, "tmp"),
    memoryLimitMb: 224,
    threads: 2,
    previous: previous.kind === "carried" ? previous.access : undefined,
  });
  const { connection } = database;
  const itemBounds = await makeTables(connection, difference);
  await fillDerivedTables(connection, {
    passthrough: false,
    itemBounds,
    rowsPerRange: LEDGER_ROWS_PER_RANGE,
  });
  const began = performance.now();
  const cpu = process.cpuUsage();
  const startedAt = new Date(Date.UTC(2026, 0, sequence, 2));
  const run = runName(sequence, startedAt);
  const bounds = await fillHistory(connection, {
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
    previous,
    absences: { confirmed: new Set(), unread: new Set(), listIsWhole: true },
    itemBounds,
    rowsPerRange: HISTORY_ROWS_PER_RANGE,
  });
  const filled = performance.now();
  const sources = new Map<string, string>();
  let rows = 0;
  for (const table of HISTORY_TABLES) {
    const exported = await exportTable(connection, { table, bounds, finalDirectory: directory, sequence });
    sources.set(table.name, readParquet(exported.files.map(({ path }) => join(directory, path))));
    rows += exported.rows;
  }
  const figures = {
    night: difference.night,
    items,
    rows,
    fillSeconds: round((filled - began) / 1000),
    writeSeconds: round((performance.now() - filled) / 1000),
    cpuSeconds: round(cpuSecondsSince(cpu)),
    peakMemoryMb: Math.round(process.resourceUsage().maxRSS / 1024),
    causes: await causes(connection, run),
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  return { kind: "carried", run, access: { directory }, sources };
}

async function causes(connection: DuckDBConnection, run: string): Promise<Record<string, number>> {
  const sql = "SELECT cause, count(*) AS n FROM mapped_value_history WHERE valid_from_run = $1 GROUP BY ALL";
  return Object.fromEntries(
    (await all(connection, sql, [run])).map(({ cause, n }) => [String(cause), Number(n)]),
  );
}

/** What both steps cost on a machine that others use too. */
function cpuSecondsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
}

function round(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}

async function makeTables(connection: DuckDBConnection, { everyItem, name }: Difference): Promise<Bounds> {
  for (const table of DATA_TABLES) await createTable(connection, table);
  const id = (expression: string) => `printf('%024x', ${expression})`;
  const insert = (table: string, select: string) =>
    execute(connection, `INSERT INTO ${table} BY NAME SELECT ${select}`);
  const bucket = BUCKET_ITEMS;
  for (let first = 0; first < items; first += bucket) {
    const range = `range(${first}, ${Math.min(first + bucket, items)}) i(item)`;
    await insert("content", `${id("item")} AS content_id FROM ${range}`);
    const changed = everyItem === 0 ? "0" : `CASE WHEN item % ${everyItem} = 7 THEN 1 ELSE 0 END`;
    await insert(
      "content_custom_field_values",
      `${id("item")} AS content_id, ${id("field")} AS custom_field_id, 0 AS ordinal,
       CASE WHEN field < 24 THEN ${id("field * 100 + value")} END AS value_id,
       CASE WHEN field < 24 THEN 'text of ' || value ELSE 'free text ' || item || ' ' || value END AS value,
       CASE WHEN field < 24 THEN ${id("field * 100 + value")} ELSE 'free text ' || item || ' ' || value END AS mapping_input,
       field < 24 AS mapping_input_is_id
       FROM (SELECT item, field, (item * 7 + field + ${changed}) % 10 AS value FROM ${range}, range(${FIELDS}) f(field))`,
    );
  }
  await insert(
    "custom_fields",
    `${id("field")} AS custom_field_id, 'field ' || field AS name,
     CASE WHEN field < 24 THEN 'select' ELSE 'text' END AS field_type, true AS from_lookup FROM range(${FIELDS}) f(field)`,
  );
  await insert(
    "custom_field_select_values",
    `${id("field")} AS custom_field_id, ${id("field * 100 + value")} AS value_id, value AS ordinal,
     'text of ' || value AS display, 'text of ' || value AS value, false AS archived
     FROM range(24) f(field), range(10) v(value)`,
  );
  await insert(
    "destinations",
    `'d' || d AS destination_id, true AS supports_custom_field_mappings FROM range(${DESTINATIONS}) t(d)`,
  );
  await insert(
    "custom_field_mappings",
    `'m' || field || ' ' || d AS mapping_id, ${id("field")} AS custom_field_id, 'd' || d AS destination_id, d AS ordinal,
     CASE field WHEN 0 THEN '${name}' ELSE 'external field ' || field END AS external_field_name
     FROM range(${FIELDS}) f(field), range(${DESTINATIONS}) t(d)`,
  );
  await insert(
    "custom_field_mapping_values",
    `'e' || field || ' ' || d || ' ' || value AS mapping_value_id, 'm' || field || ' ' || d AS mapping_id, value AS ordinal,
     ${id("field * 100 + value")} AS value_id, 'external ' || value AS external_value
     FROM range(24) f(field), range(${DESTINATIONS}) t(d), range(9) v(value)`,
  );
  const bounds = await all(
    connection,
    `SELECT ${id("item")} AS id FROM range(0, ${items}, ${bucket}) i(item)`,
  );
  return bounds.map((row) => String(row.id));
}
