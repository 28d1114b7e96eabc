/** Names and lists of the files in a table's log. */
import { z } from "zod";
import { WarehouseError } from "../../../common/errors.ts";
import { parseIfJson } from "../../../common/json.ts";
import type { Store, StoredObject } from "../../store/store.ts";

const DIGITS = 20;
const VERSION_FILE = /^(\d{20})(\.[^/]+)$/;
const CHECKPOINT = /^\.checkpoint(?:\.(\d{10})\.(\d{10}))?\.parquet$/;

function logFolder(table: string): string {
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

function beginning(table: string, version: number): string {
  return logFolder(table) + String(version).padStart(DIGITS, "0");
}

/** A checkpoint whose parts are all there. */
export interface CheckpointFiles {
  readonly version: number;
  /** In the order of the parts. */
  readonly keys: readonly string[];
}

interface DeltaLogFile extends StoredObject {
  readonly version: number;
  /** Rest of the name: `.json`, `.checkpoint.parquet`. */
  readonly suffix: string;
}

export type DeltaLogListing = Awaited<ReturnType<typeof listLog>>;

/** Lists all files of a log in order of their versions, and of these the commits and whole checkpoints. `from`: first version. */
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

/** A version may have several checkpoints with different numbers of parts. */
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
    `The log of the table ${table} in ${store.address} is damaged: ${what}; restore its files, or deliver into another lake.`,
    { cause },
  );
}

const lastCheckpoint = z.object({ version: z.int().nonnegative() });

/** Version that `_last_checkpoint` names; `null` if it is missing or unreadable. It is only a hint. */
export async function lastCheckpointVersion(store: Store, table: string): Promise<number | null> {
  const body = await store.get(lastCheckpointKey(table));
  return lastCheckpoint.safeParse(parseIfJson(String(body))).data?.version ?? null;
}
