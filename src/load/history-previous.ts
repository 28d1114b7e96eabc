/** Finds the history of the run before, verifies it, and attaches it under the names `previous_<table>`. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError, isOfTheDisk, WarehouseError } from "../common/errors.ts";
import type { RunAsked } from "../raw/extract-record.ts";
import { PREVIOUS_CATALOG } from "../storage/database.ts";
import { duckdbColumns } from "../storage/ddl.ts";
import { execute, scalar } from "../storage/duckdb.ts";
import { quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import { HISTORY_TABLES, HISTORY_VERSION } from "../tables/history.ts";
import { DATABASE_FILE } from "../warehouse/layout.ts";
import type { Manifest, PublishedFile } from "../warehouse/manifest.ts";
import { openTables, type PublishedFiles, tableSql, tablesSourceOf } from "../warehouse/published-tables.ts";
import { firstDamage } from "../warehouse/verify.ts";

export type PreviousHistory =
  /** Nothing is published yet. */
  | { readonly kind: "none" }
  /** There is a run before, but its history cannot be continued. */
  | { readonly kind: "anew"; readonly run: string; readonly reason: string }
  | {
      readonly kind: "carried";
      readonly run: string;
      /** What `openForBuilding` needs to read it: a database file, or the run's folder with Parquet files. */
      readonly access: string | { readonly directory: string };
      /** SQL of a table's rows, to follow FROM. */
      readonly sourceOf: (table: string) => string;
      /** Custom fields whose values are left out: they are personal now, and the run before did not treat them so. */
      readonly forgotten: readonly string[];
      /** How the run before treated personal data. */
      readonly personalData: RunAsked["personalData"];
    };

type CarriedHistory = Extract<PreviousHistory, { readonly kind: "carried" }>;

/** A published run whose history may be continued. */
type HistorySource = PublishedFiles & { readonly run: string; readonly manifest: Manifest };

/**
 * Finds the history of a published run, in its Parquet files if it has some, else in its database. Each file that will be
 * read is verified against the manifest. A history that is incomplete, damaged or of another form cannot be continued.
 * Throws `config.newer_version` if a newer program wrote it.
 */
export async function findHistory(
  previous: HistorySource,
  temporaryDirectory: string,
): Promise<PreviousHistory> {
  const { run, manifest } = previous;
  const anew = (reason: string): PreviousHistory => ({ kind: "anew", run, reason });
  const missing = HISTORY_TABLES.find(({ name }) => manifest.rows[name] === undefined);
  if (missing !== undefined) return anew(`it has no table ${missing.name}`);
  const source = tablesSourceOf(previous);
  const folders = HISTORY_TABLES.map(({ name }) => `parquet/${name}/`);
  const isRead = ({ path }: PublishedFile) =>
    source.database === undefined
      ? folders.some((folder) => path.startsWith(folder))
      : path === DATABASE_FILE;
  const damage = await firstDamage(previous.directory, manifest.files.filter(isRead));
  if (damage !== undefined) return anew(damage);
  try {
    const reason = await whyAnew(previous, temporaryDirectory);
    if (reason !== undefined) return anew(reason);
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (error.code === "config.newer_version" || isOfTheDisk(error)) throw error;
    return anew(error.message.replace(/\.$/, ""));
  }
  return {
    kind: "carried",
    run,
    access: source.database ?? { directory: previous.directory },
    sourceOf: (table) => tableSql(source, table, PREVIOUS_CATALOG),
    forgotten: [],
    personalData: manifest.asked.personalData,
  };
}

/** Why the history cannot be continued. Throws if a newer program wrote the tables, or if they cannot be read. */
async function whyAnew(previous: HistorySource, temporaryDirectory: string): Promise<string | undefined> {
  const source = tablesSourceOf(previous);
  await using database = await openTables(source, { temporaryDirectory, memoryLimitMb: 128, threads: 1 });
  const { connection } = database;
  const runs = tableSql(source, "run_history");
  const version = await scalar(connection, `SELECT coalesce(max(history_version), 0) FROM ${runs}`);
  if (version > HISTORY_VERSION) {
    throw new WarehouseError(
      "config.newer_version",
      `The history in ${previous.directory} was written by a newer version of content-warehouse; update content-warehouse to continue it.`,
    );
  }
  if (version < HISTORY_VERSION) return "an older version of content-warehouse wrote it";
  for (const table of HISTORY_TABLES) {
    const rows = `SELECT ${duckdbColumns(table)} FROM ${tableSql(source, table.name)}`;
    const counted = await scalar(connection, `SELECT count(*) FROM (${rows})`);
    if (counted !== previous.manifest.rows[table.name])
      return `its table ${table.name} does not have the rows it was published with`;
  }
  return undefined;
}

/**
 * Creates a temporary view `previous_<table>` for each table of the history; without a history before, the views are
 * empty. A NULL in `last_seen_run`, which means the newest run, becomes the run before.
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

/** Tables with values of custom fields, or with texts of select values. */
const VALUE_TABLES = ["mapped_value_history", "mapped_value_order_history", "select_value_history"];

function unlessForgotten(table: string, { forgotten, sourceOf }: CarriedHistory): string {
  if (forgotten.length === 0) return "";
  const ids = forgotten.map(quoteLiteral).join(", ");
  if (VALUE_TABLES.includes(table)) return ` WHERE custom_field_id NOT IN (${ids})`;
  if (table !== "mapping_value_history") return "";
  const mappings = `SELECT mapping_id FROM ${sourceOf("mapping_history")} WHERE custom_field_id IN (${ids})`;
  return ` WHERE mapping_id NOT IN (${mappings})`;
}
