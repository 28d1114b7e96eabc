/** The history that the run before carries: found, proven whole, and read by one name whatever was published. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError, isOfTheDisk, WarehouseError } from "../common/errors.ts";
import { duckdbColumns } from "../storage/ddl.ts";
import { execute, PREVIOUS_CATALOG, scalar } from "../storage/duckdb.ts";
import { quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import { HISTORY_TABLES, HISTORY_VERSION } from "../tables/history.ts";
import { DATABASE_FILE } from "../warehouse/layout.ts";
import type { Manifest, PublishedFile } from "../warehouse/manifest.ts";
import { fromTable, openTables, type PublishedFiles, sourceOf } from "../warehouse/published-tables.ts";
import { findingIn } from "../warehouse/verify.ts";

export type PreviousHistory =
  /** Nothing was published yet. */
  | { readonly kind: "none" }
  /** There is a run before, but its history cannot be carried on. */
  | { readonly kind: "anew"; readonly run: string; readonly reason: string }
  | CarriedHistory;

interface CarriedHistory {
  readonly kind: "carried";
  readonly run: string;
  /** What `openForBuilding` needs to reach it: a database, or the run's folder with Parquet files. */
  readonly access: string | { readonly directory: string };
  /** Where the rows of a table are: SQL that may follow FROM. */
  readonly sourceOf: (table: string) => string;
  /** IDs of custom fields whose values are not carried on: they are personal now, and were not treated so. */
  readonly forgotten: readonly string[];
  /** How the run treated personal data. */
  readonly personalData: Manifest["personalData"];
}

/** A published run whose history might be carried on. */
export interface PreviousRun extends PublishedFiles {
  readonly run: string;
  readonly manifest: Manifest;
}

/**
 * The history of a published run, from its Parquet files where it has them, else from its database. Each file that will
 * be read is held against the manifest; what is missing, damaged or of another form cannot be carried on.
 * Throws `config.newer_version` for a history that a newer program wrote.
 */
export async function findHistory(
  previous: PreviousRun,
  temporaryDirectory: string,
): Promise<PreviousHistory> {
  const { run, manifest } = previous;
  const anew = (reason: string): PreviousHistory => ({ kind: "anew", run, reason });
  const missing = HISTORY_TABLES.find(({ name }) => manifest.rows[name] === undefined);
  if (missing !== undefined) return anew(`it has no table ${missing.name}`);
  const history = historyOf(previous);
  const paths = HISTORY_TABLES.map(({ name }) => `parquet/${name}/`);
  const isRead = ({ path }: PublishedFile) =>
    typeof history.access === "string"
      ? path === DATABASE_FILE
      : paths.some((folder) => path.startsWith(folder));
  for (const file of manifest.files.filter(isRead)) {
    const finding = await findingIn(previous.directory, file);
    if (finding !== undefined) return anew(finding);
  }
  try {
    await assertReadable(previous, temporaryDirectory);
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (error.code === "config.newer_version" || isOfTheDisk(error)) throw error;
    return anew(error.message.replace(/\.$/, ""));
  }
  return history;
}

function historyOf(previous: PreviousRun): CarriedHistory {
  const source = sourceOf(previous);
  return {
    kind: "carried",
    run: previous.run,
    access: source.database ?? { directory: previous.directory },
    sourceOf: (table) => fromTable(source, table, PREVIOUS_CATALOG),
    forgotten: [],
    personalData: previous.manifest.personalData,
  };
}

/** Throws where the tables are not what this program carries on. */
async function assertReadable(previous: PreviousRun, temporaryDirectory: string): Promise<void> {
  const source = sourceOf(previous);
  await using database = await openTables(source, { temporaryDirectory, memoryLimitMb: 128, threads: 1 });
  const { connection } = database;
  const runs = fromTable(source, "run_history");
  const version = await scalar(connection, `SELECT coalesce(max(history_version), 0) FROM ${runs}`);
  if (version > HISTORY_VERSION) {
    throw new WarehouseError(
      "config.newer_version",
      `The history in ${previous.directory} was written by a newer version of content-warehouse; update this one to carry it on.`,
    );
  }
  for (const table of HISTORY_TABLES) {
    const rows = `SELECT ${duckdbColumns(table)} FROM ${fromTable(source, table.name)}`;
    const counted = await scalar(connection, `SELECT count(*) FROM (${rows})`);
    if (counted === previous.manifest.rows[table.name]) continue;
    throw new WarehouseError(
      "verify.failed",
      `its table ${table.name} has not the rows that it was published with`,
    );
  }
}

/**
 * Makes `previous_<table>` of each table of the history: temporary views of what is carried on, or of nothing. What the
 * run before calls the newest run is that run.
 */
export async function attachPrevious(connection: DuckDBConnection, previous: PreviousHistory): Promise<void> {
  for (const table of HISTORY_TABLES) {
    const view = quoteIdentifier(`previous_${table.name}`);
    const rows =
      previous.kind === "carried"
        ? `${rowsBefore(table.name, previous)}${unlessForgotten(table.name, previous)}`
        : `main.${quoteIdentifier(table.name)} WHERE false`;
    await execute(
      connection,
      `CREATE OR REPLACE TEMP VIEW ${view} AS SELECT ${duckdbColumns(table)} FROM ${rows}`,
    );
  }
}

function rowsBefore(table: string, { run, sourceOf }: CarriedHistory): string {
  if (table !== "content_history") return sourceOf(table);
  const lastSeen = `coalesce(last_seen_run, ${quoteLiteral(run)}) AS last_seen_run`;
  return `(SELECT * REPLACE (${lastSeen}) FROM ${sourceOf(table)})`;
}

/** Histories of what items have in custom fields, and of what select values are called. */
const OF_FIELDS = ["mapped_value_history", "mapped_value_order_history", "select_value_history"];

function unlessForgotten(table: string, { forgotten, sourceOf }: CarriedHistory): string {
  if (forgotten.length === 0) return "";
  const ids = forgotten.map(quoteLiteral).join(", ");
  if (OF_FIELDS.includes(table)) return ` WHERE custom_field_id NOT IN (${ids})`;
  if (table !== "mapping_value_history") return "";
  const mappings = `SELECT mapping_id FROM ${sourceOf("mapping_history")} WHERE custom_field_id IN (${ids})`;
  return ` WHERE mapping_id NOT IN (${mappings})`;
}
