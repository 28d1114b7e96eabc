/**
 * The table `run_snapshots`: the version of each table that has a run. Its log puts the deliveries of an instance in order.
 * Its rows are committed last, so a run with rows is whole. Each delivery writes one file with the rows of all runs of its
 * instance.
 */
import { z } from "zod";
import { parseForm } from "../../common/parse-form.ts";
import { relativePath } from "../../common/relative-path.ts";
import type { InstanceIdentity, TargetRun } from "../../pipeline.ts";
import { readColumns } from "../../storage/parquet/read.ts";
import { ParquetWriter } from "../../storage/parquet/write.ts";
import { TABLE_NAME } from "../../storage/parquet-sql.ts";
import { rowOf, TableBuilder } from "../../storage/table-builder.ts";
import { bigint, defineTable, json, text, timestamp } from "../../tables/declare.ts";
import { parseRunName } from "../../warehouse/layout.ts";
import { changedObject, type Store } from "../store/store.ts";
import { activeFiles, type TableState } from "./delta/state.ts";

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
    text("service_origin", { comment: "Address of that service: scheme, host, port and path.", required }),
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
  /** Milliseconds since 1970; microseconds in the file. */
  delivered_at: count.transform((micros) => Math.floor(micros / 1000)),
  table_name: relativePath().regex(TABLE_NAME),
  table_version: count,
  rows: count,
  files: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(z.array(z.object({ path: relativePath(), bytes: z.int(), sha256: z.string() })).readonly())
    .nullable(),
});

/** A row of `run_snapshots`. */
export type SnapshotRow = Readonly<z.infer<typeof snapshotRow>>;

/** The bytes of a Parquet file with these rows. */
export function snapshotFile(rows: readonly SnapshotRow[]): Buffer {
  const builder = new TableBuilder(RUN_SNAPSHOTS);
  for (const row of rows) {
    const files = row.files && JSON.stringify(row.files);
    builder.append(rowOf(RUN_SNAPSHOTS, { ...row, delivered_at: BigInt(row.delivered_at) * 1000n, files }));
  }
  return builder.take((batch) => new ParquetWriter().file(batch));
}

/**
 * Rows of a file, which may lack columns, or have columns of other programs. `refused`: makes the error for a row of
 * another form.
 */
function rowsIn(file: Buffer, refused: (fault: string) => Error): SnapshotRow[] {
  const { rows, has, cells } = readColumns(file);
  const columns = RUN_SNAPSHOTS.columns.map(({ name }) => [name, has(name) ? cells(name) : []] as const);
  return Array.from({ length: rows }, (_, row) => {
    const entries = columns.map(([name, of]) => {
      const cell = of[row] ?? null;
      return [name, Buffer.isBuffer(cell) ? cell.toString() : cell];
    });
    const parsed = parseForm(snapshotRow, Object.fromEntries(entries));
    if ("faults" in parsed) throw refused(parsed.faults.join("; "));
    return parsed.value;
  });
}

/** Rows of all runs of an instance. `state`: that of `run_snapshots`. */
export async function readSnapshotRows(
  store: Store,
  state: TableState | null,
  instance: string,
): Promise<readonly SnapshotRow[]> {
  const rows = activeFiles(state, instance).map(async ({ path }) => {
    const key = `${RUN_SNAPSHOTS.name}/${path}`;
    const body = await store.get(key);
    // If somebody removed the file, the past runs are lost, but deliveries must go on.
    if (body === null) return [];
    return rowsIn(body, (fault) => changedObject(store.address, key, `cannot be read (${fault})`));
  });
  return (await Promise.all(rows)).flat();
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
