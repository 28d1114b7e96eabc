/**
 * The table `run_snapshots`: the version of each table that has a run. Its log puts the deliveries of an instance in order.
 * Its rows are committed last, so a run with rows is whole. Each delivery writes one file with the rows of all runs of its
 * instance.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { InstanceIdentity, TargetRun } from "../../pipeline.ts";
import { PARQUET_TYPES } from "../../storage/ddl.ts";
import { all } from "../../storage/duckdb.ts";
import { readParquet, writeParquet } from "../../storage/parquet-sql.ts";
import { quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import { bigint, defineTable, json, text, timestamp } from "../../tables/declare.ts";
import { parseRunName } from "../../warehouse/layout.ts";
import type { Store } from "../store/store.ts";
import { commitText } from "./delta/actions.ts";
import { activeFiles, type TableState } from "./delta/state.ts";
import { withScratchDatabase } from "./scratch-database.ts";

const required = true;

export const RUN_SNAPSHOTS = defineTable({
  name: "run_snapshots",
  comment:
    "Version of each table that has a run of an instance: one row for each table of each delivered run.",
  stage: "run",
  key: ["delivery", "table_name"],
  columns: [
    bigint("delivery", {
      comment: "Number of the delivery; the last one has what readers should see.",
      required,
    }),
    text("run", { comment: "Name of the run.", required }),
    bigint("sequence", { comment: "Number of the run.", required }),
    text("verdict", { comment: "Verdict of the run: complete or unsettled.", required }),
    text("manifest_sha256", {
      comment: "SHA-256 of the manifest that the run was published with.",
      required,
    }),
    text("service_id", { comment: "Instance ID of the service that the run was read from, if it has one." }),
    text("service_origin", { comment: "Address of that service: scheme, host and port.", required }),
    text("rollback_of", { comment: "Name of the run that a rollback to this run replaced." }),
    text("rollback_of_sha256", { comment: "SHA-256 of the manifest of that run." }),
    timestamp("delivered_at", { comment: "When the delivery finished.", required }),
    text("table_name", { comment: "Table.", required }),
    bigint("table_version", {
      comment: "A version of the table at which the instance has the rows of this run.",
      required,
    }),
    bigint("rows", { comment: "Rows of the run in the table.", required }),
    json("files", {
      comment: "Files of the run in the table: path, bytes and sha256. NULL for runs before the last one.",
    }),
  ],
});

const count = z.coerce.number().pipe(z.int().nonnegative());
const file = z.object({ path: z.string(), bytes: z.int(), sha256: z.string() });

const snapshotRow = z.object({
  delivery: count,
  run: z.string(),
  sequence: count,
  verdict: z.string(),
  manifest_sha256: z.string(),
  service_id: z.string().nullable(),
  service_origin: z.string(),
  rollback_of: z.string().nullable(),
  rollback_of_sha256: z.string().nullable(),
  /** Milliseconds since 1970. */
  delivered_at: count,
  table_name: z.string(),
  table_version: count,
  rows: count,
  files: z.array(file).readonly().nullable(),
});

/** A row of `run_snapshots`. */
export type SnapshotRow = Readonly<z.infer<typeof snapshotRow>>;

/** Writes rows into a file, and reads them from files. */
export interface SnapshotFormat {
  readonly read: (files: readonly Buffer[]) => Promise<readonly SnapshotRow[]>;
  readonly write: (rows: readonly SnapshotRow[]) => Promise<Buffer>;
}

/** Parquet files that DuckDB reads and writes. */
export const PARQUET_FORMAT: SnapshotFormat = {
  read: (files) =>
    withScratchDatabase(async (connection, folder) => {
      // A file may lack columns, or have columns of other programs.
      const types = RUN_SNAPSHOTS.columns.map(({ name, type }) => `NULL::${PARQUET_TYPES[type]} AS ${name}`);
      const parts = [`SELECT ${types.join(", ")} WHERE false`];
      for (const [part, body] of files.entries()) {
        const path = join(folder, `${part}.parquet`);
        await writeFile(path, body);
        parts.push(`SELECT * FROM ${readParquet([path])}`);
      }
      const union = parts.join(" UNION ALL BY NAME ");
      const columns = RUN_SNAPSHOTS.columns.map(({ name }) => READ[name] ?? quoteIdentifier(name));
      const rows = await all(
        connection,
        `SELECT to_json(made)::VARCHAR AS line FROM (SELECT ${columns.join(", ")} FROM (${union})) AS made`,
      );
      return rows.map(({ line }) => snapshotRow.parse(JSON.parse(String(line))));
    }),
  write: (rows) =>
    withScratchDatabase(async (connection, folder) => {
      const [lines, path] = [join(folder, "rows.json"), join(folder, "rows.parquet")];
      await writeFile(lines, commitText(rows));
      const types = RUN_SNAPSHOTS.columns.map(
        ({ name, type }) => `${name}: ${quoteLiteral(WRITTEN[name] ?? PARQUET_TYPES[type])}`,
      );
      const columns = RUN_SNAPSHOTS.columns.map(({ name }) => WRITE[name] ?? quoteIdentifier(name));
      const made = `read_json(${quoteLiteral(lines)}, format = 'newline_delimited', columns = {${types.join(", ")}})`;
      const query = {
        text: `SELECT ${columns.join(", ")} FROM ${made} ORDER BY delivery, table_name`,
        params: [],
      };
      await writeParquet(connection, { table: RUN_SNAPSHOTS, query, file: path });
      return readFile(path);
    }),
};

const READ: Readonly<Record<string, string>> = {
  delivered_at: "epoch_ms(delivered_at) AS delivered_at",
  files: "files::JSON AS files",
};
const WRITTEN: Readonly<Record<string, string>> = { delivered_at: "BIGINT", files: "JSON" };
const WRITE: Readonly<Record<string, string>> = {
  delivered_at: "to_timestamp(delivered_at / 1000) AS delivered_at",
  files: "files::VARCHAR AS files",
};

/** Rows of all runs of an instance. `state`: that of `run_snapshots`. */
export async function readSnapshotRows(
  { store, format }: { readonly store: Store; readonly format: SnapshotFormat },
  state: TableState | null,
  instance: string,
): Promise<readonly SnapshotRow[]> {
  const files = state === null ? [] : activeFiles(state, instance);
  const bodies = await Promise.all(files.map(({ path }) => store.get(`${RUN_SNAPSHOTS.name}/${path}`)));
  // If somebody removed the file, the past runs are lost, but deliveries must go on.
  const found = bodies.filter((body) => body !== null);
  return found.length === 0 ? [] : await format.read(found);
}

/** A run of an instance whose delivery has finished. */
export interface LakeRun extends TargetRun {
  readonly delivery: number;
  readonly verdict: string;
  readonly service: InstanceIdentity;
  /** Milliseconds since 1970. */
  readonly deliveredMs: number;
  /** One for each table. */
  readonly rows: readonly SnapshotRow[];
}

/** The run of the last delivery; `null` if there is none. */
export function lastRunOf(all: readonly SnapshotRow[]): LakeRun | null {
  const delivery = all.reduce((highest, row) => Math.max(highest, row.delivery), 0);
  const rows = all.filter((row) => row.delivery === delivery);
  const [row] = rows;
  if (row === undefined) return null;
  const { run, sequence, verdict, rollback_of, rollback_of_sha256 } = row;
  const replaced = parseRunName(rollback_of ?? "");
  return {
    run,
    sequence,
    sha256: row.manifest_sha256,
    ...(replaced && {
      rollbackOf: { run: replaced.run, sequence: replaced.sequence, sha256: rollback_of_sha256 ?? undefined },
    }),
    delivery,
    verdict,
    service: { id: row.service_id, origin: row.service_origin },
    deliveredMs: row.delivered_at,
    rows,
  };
}

/** Data files of a run with their keys in the store. */
export function filesOfRun({ rows }: LakeRun) {
  return rows.flatMap(({ table_name, files }) =>
    (files ?? []).map((each) => ({ ...each, key: `${table_name}/${each.path}` })),
  );
}
