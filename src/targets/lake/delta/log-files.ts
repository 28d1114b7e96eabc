/** Files of a table's log: their names, which are there, and what stands in them. */
import { z } from "zod";
import { WarehouseError } from "../../../common/errors.ts";
import { parseIfJson } from "../../../common/json.ts";
import type { Store, StoredObject } from "../../store/store.ts";

const DIGITS = 20;
const VERSION_FILE = /^(\d{20})(\.[^/]+)$/;
const CHECKPOINT = /^\.checkpoint(?:\.(\d{10})\.(\d{10}))?\.parquet$/;

export function logFolder(table: string): string {
  return `${table}/_delta_log/`;
}

export function commitKey(table: string, version: number): string {
  return `${beginning(table, version)}.json`;
}

export function checkpointKey(table: string, version: number): string {
  return `${beginning(table, version)}.checkpoint.parquet`;
}

export function lastCheckpointKey(table: string): string {
  return `${logFolder(table)}_last_checkpoint`;
}

/** What the names of a version's files begin with. */
function beginning(table: string, version: number): string {
  return logFolder(table) + String(version).padStart(DIGITS, "0");
}

/** A checkpoint of which all parts are there. */
export interface CheckpointFiles {
  readonly version: number;
  /** In the order of their parts. */
  readonly keys: readonly string[];
}

interface DeltaLogFile extends StoredObject {
  readonly version: number;
  /** Behind the version: `.json`, `.checkpoint.parquet`. */
  readonly suffix: string;
}

export type DeltaLogListing = Awaited<ReturnType<typeof listLog>>;

/**
 * A log's files by version, each in ascending order: all, those that we do not know among them, and of these commits and
 * whole checkpoints. `from`: the first version that matters.
 */
export async function listLog(store: Store, table: string, from: number) {
  const folder = logFolder(table);
  const files: DeltaLogFile[] = [];
  for await (const object of store.list(folder, from > 0 ? { after: beginning(table, from) } : {})) {
    const [, version, suffix = ""] = VERSION_FILE.exec(object.key.slice(folder.length)) ?? [];
    if (version !== undefined) files.push({ ...object, version: Number(version), suffix });
  }
  const commits = files.filter(({ suffix }) => suffix === ".json");
  return { files, commits, checkpoints: wholeCheckpoints(files) };
}

/** One may be there in several forms, each of so many parts. */
function wholeCheckpoints(files: readonly DeltaLogFile[]): CheckpointFiles[] {
  const parts = files.flatMap(({ key, version, suffix }) => {
    const [found, , of = "1"] = CHECKPOINT.exec(suffix) ?? [];
    return found === undefined ? [] : [{ key, version, of: Number(of) }];
  });
  const forms = Map.groupBy(parts, ({ version, of }) => `${version} of ${of}`);
  return [...forms.values()].flatMap((form) => {
    const [first] = form;
    if (first === undefined || first.of !== form.length) return [];
    return [{ version: first.version, keys: form.map(({ key }) => key) }];
  });
}

export function damagedLog(store: Store, table: string, what: string, cause?: unknown): WarehouseError {
  return new WarehouseError(
    "target.refused",
    `The log of the table ${table} in ${store.address} is damaged: ${what}; bring its files back, or deliver into another lake.`,
    { cause },
  );
}

const lastCheckpoint = z.object({ version: z.int().nonnegative() });

/** Version of the checkpoint that `_last_checkpoint` names; null: there is none, or it cannot be read. Only a hint. */
export async function lastCheckpointVersion(store: Store, table: string): Promise<number | null> {
  const body = await store.get(lastCheckpointKey(table));
  return lastCheckpoint.safeParse(parseIfJson(String(body))).data?.version ?? null;
}
