/** A lake in a folder, as its readers see it. The logs are replayed here by code of the tests' own. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";

/** A row of `run_snapshots`. */
export interface Snapshot {
  readonly instance: string;
  readonly sequence: number;
  readonly run: string;
  readonly table: string;
  readonly version: number;
  readonly rows: number;
}

export interface LakeView {
  /** Reads what was committed since the last time. Fails where a version is not of one run of one instance. */
  readonly advance: () => void;
  /** Names of the tables, `run_snapshots` not among them. */
  readonly tables: () => readonly string[];
  /** Number of a table's newest version; -1: it has none. */
  readonly version: (table: string) => number;
  /** Absolute paths of an instance's files at a version of a table. */
  readonly files: (table: string, instance: string, version?: number) => readonly string[];
  /** Numbers of the runs of an instance that a table had, in the order of its versions. */
  readonly sequences: (table: string, instance: string) => readonly number[];
  /** What a reader finds in the newest `run_snapshots`. */
  readonly snapshots: (connection: DuckDBConnection) => Promise<readonly Snapshot[]>;
}

const SNAPSHOTS = "run_snapshots";

/** The lake whose store is a folder, or a bucket that a folder is served as. */
export function lakeView(folder: string): LakeView {
  const logs = new Map<string, TableLog>();
  const files = (table: string, instance: string, version = Number.POSITIVE_INFINITY) => {
    const paths = logs.get(table)?.filesAt(instance, version) ?? [];
    return paths.map((path) => join(folder, table, path));
  };
  return {
    advance: () => {
      if (!existsSync(folder)) return;
      // A run stands in the snapshots after it stands in the tables: whoever reads them first finds no run too many.
      for (const table of [SNAPSHOTS, ...readdirSync(folder).filter((name) => !/^[._]/.test(name))]) {
        if (!logs.has(table)) logs.set(table, tableLog(join(folder, table)));
        logs.get(table)?.advance();
      }
    },
    tables: () => [...logs.keys()].filter((table) => table !== SNAPSHOTS),
    version: (table) => logs.get(table)?.version() ?? -1,
    files,
    sequences: (table, instance) => logs.get(table)?.sequences(instance) ?? [],
    snapshots: async (connection) => {
      const instances = logs.get(SNAPSHOTS)?.instances() ?? [];
      const paths = instances.flatMap((instance) => files(SNAPSHOTS, instance));
      if (paths.length === 0) return [];
      const rows = await connection.runAndReadAll(
        `SELECT regexp_extract(filename, 'instance=([^/]+)/', 1), sequence::INTEGER, run, table_name,
           table_version::INTEGER, rows::INTEGER
         FROM ${parquet(paths, "filename = true, hive_partitioning = false")} ORDER BY 1, 2, 4`,
      );
      return rows.getRowsJson().map(([instance, sequence, run, table, version, count]) => ({
        instance: String(instance),
        sequence: Number(sequence),
        run: String(run),
        table: String(table),
        version: Number(version),
        rows: Number(count),
      }));
    },
  };
}

/** Parquet files as a table of a query. */
export function parquet(paths: readonly string[], options = "hive_partitioning = false"): string {
  return `read_parquet([${paths.map((path) => `'${path}'`).join(", ")}], ${options})`;
}

const partition = z.object({ instance: z.string() });
const action = z.object({
  txn: z.object({ appId: z.string(), version: z.number() }).optional(),
  add: z.object({ path: z.string(), partitionValues: partition }).optional(),
  remove: z.object({ path: z.string(), partitionValues: partition }).optional(),
});

interface Replaced {
  readonly version: number;
  readonly sequence: number;
  readonly paths: readonly string[];
}

interface TableLog {
  readonly advance: () => void;
  readonly version: () => number;
  readonly instances: () => readonly string[];
  readonly sequences: (instance: string) => readonly number[];
  readonly filesAt: (instance: string, version: number) => readonly string[];
}

function tableLog(folder: string): TableLog {
  const byInstance = new Map<string, Replaced[]>();
  let next = 0;
  const commitPath = () => join(folder, "_delta_log", `${String(next).padStart(20, "0")}.json`);
  return {
    advance: () => {
      for (; existsSync(commitPath()); next++) {
        const lines = readFileSync(commitPath(), "utf8").trimEnd().split("\n");
        const actions = lines.map((line) => action.parse(JSON.parse(line)));
        const { instance, ...replaced } = replacement(`${folder} at ${next}`, next, actions, byInstance);
        byInstance.set(instance, [...(byInstance.get(instance) ?? []), replaced]);
      }
    },
    version: () => next - 1,
    instances: () => [...byInstance.keys()],
    sequences: (instance) => byInstance.get(instance)?.map(({ sequence }) => sequence) ?? [],
    filesAt: (instance, version) =>
      byInstance.get(instance)?.findLast((each) => each.version <= version)?.paths ?? [],
  };
}

/** What a version did: it gave one instance the files of one run, later than the one before, and took its others. */
function replacement(
  place: string,
  version: number,
  actions: readonly z.infer<typeof action>[],
  byInstance: ReadonlyMap<string, readonly Replaced[]>,
): Replaced & { readonly instance: string } {
  const txns = actions.flatMap(({ txn }) => txn ?? []);
  assert.equal(txns.length, 1, `${place}: one run in one version`);
  const [{ appId: instance, version: sequence } = { appId: "", version: 0 }] = txns;
  const added = actions.flatMap(({ add }) => add ?? []);
  const removed = actions.flatMap(({ remove }) => remove ?? []);
  for (const { partitionValues } of [...added, ...removed]) {
    assert.equal(partitionValues.instance, instance, `${place}: files of another instance`);
  }
  const before = byInstance.get(instance)?.at(-1);
  assert.ok(sequence > (before?.sequence ?? 0), `${place}: run ${sequence} after ${before?.sequence}`);
  const paths = added.map(({ path }) => decodeURIComponent(path)).toSorted();
  const gone = removed.map(({ path }) => decodeURIComponent(path));
  // A file of the same content has the same name, and stays.
  const stayed = (before?.paths ?? []).filter((path) => !gone.includes(path));
  assert.deepEqual(
    stayed.filter((path) => !paths.includes(path)),
    [],
    `${place}: files of an earlier run`,
  );
  for (const path of paths) {
    assert.equal(Number(/-(\d{6,})-[0-9a-f]{16}\.parquet$/.exec(path)?.[1]), sequence, `${place}: ${path}`);
  }
  return { instance, version, sequence, paths };
}
