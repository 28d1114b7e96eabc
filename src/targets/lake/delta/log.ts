/** Reads the log of a table: its files, its commits, and the table's state from its newest checkpoint on. */
import { z } from "zod";
import { WarehouseError } from "../../../common/errors.ts";
import { parseIfJson } from "../../../common/json.ts";
import { mapLimited } from "../../../storage/parallel.ts";
import type { Store, StoredObject } from "../../store/store.ts";
import { parseCheckpoint } from "./checkpoint-file.ts";
import { assertReadable } from "./features.ts";
import { applyCommit, type DeltaAction, newReplay, parseAction, type TableState } from "./state.ts";

const VERSION_FILE = /^(\d{20})(\.[^/]+)$/;
const CHECKPOINT = /^\.checkpoint(?:\.(\d{10})\.(\d{10}))?\.parquet$/;
/** Commits that are read in parallel. */
const READERS = 16;

export function commitKey(table: string, version: number): string {
  return `${beginning(table, version)}.json`;
}

export function checkpointKey(table: string, version: number): string {
  return `${beginning(table, version)}.checkpoint.parquet`;
}

export function lastCheckpointKey(table: string): string {
  return `${table}/_delta_log/_last_checkpoint`;
}

function beginning(table: string, version: number): string {
  return `${table}/_delta_log/${String(version).padStart(20, "0")}`;
}

interface DeltaLogFile extends StoredObject {
  readonly version: number;
  /** Rest of the name: `.json`, `.checkpoint.parquet`. */
  readonly suffix: string;
}

/** Lists all files of a log in order of their versions, and of these the commits and whole checkpoints. `from`: first version. */
export async function listLog(store: Store, table: string, from: number) {
  const folder = `${table}/_delta_log/`;
  const files: DeltaLogFile[] = [];
  for await (const object of store.list(folder, from > 0 ? { after: beginning(table, from) } : {})) {
    const [, version, suffix = ""] = VERSION_FILE.exec(object.key.slice(folder.length)) ?? [];
    if (version !== undefined) files.push({ ...object, version: Number(version), suffix });
  }
  const commits = files.filter(({ suffix }) => suffix === ".json");
  return { files, commits, checkpoints: wholeCheckpoints(files) };
}

/** Checkpoints with the keys of all their parts. A version may have several with different numbers of parts. */
function wholeCheckpoints(files: readonly DeltaLogFile[]) {
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

const lastCheckpoint = z.object({ version: z.int().nonnegative() });

/** Version that `_last_checkpoint` names; `null` if it is missing or unreadable. It is only a hint. */
export async function lastCheckpointVersion(store: Store, table: string): Promise<number | null> {
  const body = await store.get(lastCheckpointKey(table));
  return lastCheckpoint.safeParse(parseIfJson(String(body))).data?.version ?? null;
}

type DeltaLogListing = Awaited<ReturnType<typeof listLog>>;

/**
 * Reads the newest state of a table; `null` if there is no table. Throws `target.refused` if its log is damaged, or needs
 * more than reader version 1.
 */
export async function readTable(store: Store, table: string): Promise<TableState | null> {
  const newest = ({ checkpoints }: DeltaLogListing) => checkpoints.at(-1)?.version ?? -1;
  for (let listed = await listFromCheckpoint(store, table); ; ) {
    try {
      return await read(store, table, listed);
    } catch (thrown) {
      const before = newest(listed);
      listed = await listFromCheckpoint(store, table);
      // Listed files may have been removed since, if there is a later checkpoint.
      if (newest(listed) <= before) throw thrown;
    }
  }
}

/** Lists the log from the hinted checkpoint on, or the whole log if the hint is wrong. */
async function listFromCheckpoint(store: Store, table: string): Promise<DeltaLogListing> {
  const hint = await lastCheckpointVersion(store, table);
  const files = await listLog(store, table, hint ?? 0);
  return hint === null || files.checkpoints.length > 0 ? files : listLog(store, table, 0);
}

async function read(
  store: Store,
  table: string,
  { commits, checkpoints }: DeltaLogListing,
): Promise<TableState | null> {
  const replay = newReplay(table);
  const checkpoint = checkpoints.at(-1);
  if (checkpoint !== undefined) {
    const { version, keys } = checkpoint;
    const bodies = await Promise.all(keys.map((key) => store.get(key)));
    const actions = await parseCheckpoint(bodies.map((body) => body ?? Buffer.alloc(0))).catch(
      (cause: unknown) => {
        throw damagedLog(store, table, `the checkpoint of version ${version} cannot be read`, cause);
      },
    );
    applyCommit(replay, version, actions);
  }
  const first = replay.version + 1;
  const count = Math.max(0, (commits.at(-1)?.version ?? -1) + 1 - first);
  const versions = Array.from({ length: count }, (_, index) => first + index);
  const found = await mapLimited(versions, (version) => readCommit(store, table, version), READERS);
  for (const [index, commit] of found.entries()) {
    if (commit === null) throw damagedLog(store, table, `version ${first + index} is missing`);
    applyCommit(replay, first + index, commit);
  }
  return replay.version < 0 ? null : finished(store, replay);
}

/** Reads the versions after a state. */
export async function readNewer(store: Store, state: TableState): Promise<TableState> {
  const replay = newReplay(state.table, state);
  for (;;) {
    const version = replay.version + 1;
    const commit = await readCommit(store, state.table, version);
    if (commit === null) return finished(store, replay);
    applyCommit(replay, version, commit);
  }
}

/** `null` if there is no such version. */
export async function readCommit(
  store: Store,
  table: string,
  version: number,
): Promise<DeltaAction[] | null> {
  const body = await store.get(commitKey(table, version));
  if (body === null) return null;
  try {
    const lines = body.toString().split("\n");
    return lines.filter((line) => line.trim() !== "").map(parseAction);
  } catch (cause) {
    throw damagedLog(store, table, `version ${version} is not as the protocol says`, cause);
  }
}

function finished(store: Store, replay: ReturnType<typeof newReplay>): TableState {
  const { protocol, metaData } = replay;
  if (protocol === null || metaData === null)
    throw damagedLog(store, replay.table, "it has no protocol or no metadata");
  const state = { ...replay, protocol, metaData };
  assertReadable(state);
  return state;
}

function damagedLog(store: Store, table: string, what: string, cause?: unknown): WarehouseError {
  return new WarehouseError(
    "target.refused",
    `The log of the table ${table} in ${store.address} is damaged: ${what}; restore its files, or deliver into another lake.`,
    { cause },
  );
}
