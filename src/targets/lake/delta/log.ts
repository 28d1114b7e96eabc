/** Reads the log of a table from its newest checkpoint on, writes checkpoints, and removes the log before them. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { parquetReadObjects } from "hyparquet";
import { z } from "zod";
import { WarehouseError } from "../../../common/errors.ts";
import { parseIfJson } from "../../../common/json.ts";
import { firstFault } from "../../../common/parse-form.ts";
import { inTemporaryFolder } from "../../../common/temporary-folder.ts";
import { openForScanning } from "../../../storage/database.ts";
import { execute } from "../../../storage/duckdb.ts";
import { mapLimited } from "../../../storage/parallel.ts";
import { quoteLiteral } from "../../../storage/sql-text.ts";
import type { Store, StoredObject } from "../../store/store.ts";
import { assertReadable, blockingReason } from "./features.ts";
import { retentionOf } from "./metadata.ts";
import {
  applyCommit,
  commitText,
  type DeltaAction,
  metaDataLine,
  newReplay,
  parseAction,
  type TableState,
} from "./state.ts";

const VERSION_FILE = /^(\d{20})(\.[^/]+)$/;
const CHECKPOINT = /^\.checkpoint(?:\.(\d{10})\.(\d{10}))?\.parquet$/;

function commitKey(table: string, version: number): string {
  return `${beginning(table, version)}.json`;
}

function lastCheckpointKey(table: string): string {
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
async function listLog(store: Store, table: string, from: number) {
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
async function lastCheckpointVersion(store: Store, table: string): Promise<number | null> {
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
    for (const body of await Promise.all(keys.map((key) => store.get(key)))) {
      const actions = await parseCheckpoint(body ?? Buffer.alloc(0)).catch((cause: unknown) => {
        throw damagedLog(
          store,
          table,
          `the checkpoint of version ${version} cannot be read${faultIn(cause)}`,
          cause,
        );
      });
      applyCommit(replay, version, actions);
    }
  }
  const first = replay.version + 1;
  const count = Math.max(0, (commits.at(-1)?.version ?? -1) + 1 - first);
  const versions = Array.from({ length: count }, (_, index) => first + index);
  const found = await mapLimited(versions, (version) => readCommit(store, table, version));
  for (const [index, commit] of found.entries()) {
    if (commit === null) throw damagedLog(store, table, `version ${first + index} is missing`);
    applyCommit(replay, first + index, commit);
  }
  return replay.version < 0 ? null : finished(store, replay);
}

/** Codecs that `hyparquet` does not have itself. Spark compresses checkpoints as its session says. */
const COMPRESSORS = {
  ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes),
  GZIP: (bytes: Uint8Array) => gunzipSync(bytes),
};

/** The actions of a part of a checkpoint, which has a row for each. Throws if the bytes are none. */
async function parseCheckpoint(part: Buffer): Promise<DeltaAction[]> {
  const rows = await parquetReadObjects({ file: new Uint8Array(part).buffer, compressors: COMPRESSORS });
  const plain = (_: string, value: unknown) => (typeof value === "bigint" ? Number(value) : value);
  return rows.map((row) => parseAction(JSON.stringify(row, plain)));
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
async function readCommit(store: Store, table: string, version: number): Promise<DeltaAction[] | null> {
  const body = await store.get(commitKey(table, version));
  if (body === null) return null;
  try {
    const lines = body.toString().split("\n");
    return lines.filter((line) => line.trim() !== "").map(parseAction);
  } catch (cause) {
    throw damagedLog(store, table, `version ${version} is not as the protocol says${faultIn(cause)}`, cause);
  }
}

/**
 * Puts a commit, and a checkpoint after it if one is due; gives the version. `taken`: another writer has it. `passed`: the log
 * has a later checkpoint, so readers may not see this version. If the answer is lost, it finds its own commit by its ID.
 */
export async function putCommit(
  store: Store,
  table: string,
  commit: Readonly<Record<"version" | "nowMs", number>> & {
    readonly txnId: string;
    readonly lines: object[];
  },
): Promise<number | "taken" | "passed"> {
  const { version, txnId, lines, nowMs } = commit;
  if (!(await store.putNew(commitKey(table, version), Buffer.from(commitText(lines))))) {
    const there = (await readCommit(store, table, version)) ?? [];
    if (!there.some(({ commitInfo }) => commitInfo?.txnId === txnId)) return "taken";
  }
  const { checkpoints } = await listLog(store, table, version);
  if (checkpoints.length > 0) return "passed";
  await writeDueCheckpoint(store, table, version, nowMs);
  return version;
}

function finished(store: Store, replay: ReturnType<typeof newReplay>): TableState {
  const { protocol, metaData } = replay;
  if (protocol === null || metaData === null)
    throw damagedLog(store, replay.table, "it has no protocol or no metadata");
  const state = { ...replay, protocol, metaData };
  assertReadable(state);
  return state;
}

/** What is wrong with an action, in parentheses; empty if it is no action at all. */
function faultIn(cause: unknown): string {
  return cause instanceof z.ZodError ? ` (${firstFault(cause).replace(/^\W+/, "")})` : "";
}

function damagedLog(store: Store, table: string, what: string, cause?: unknown): WarehouseError {
  return new WarehouseError(
    "target.refused",
    `The log of the table ${table} in ${store.address} is damaged: ${what}; restore its files, or deliver into another lake.`,
    { cause },
  );
}

const TEXTS = "MAP(VARCHAR, VARCHAR)";
/** Columns of a checkpoint, with all fields of reader version 1 and writer version 2. */
const COLUMNS: Readonly<Record<string, string>> = {
  protocol:
    "STRUCT(minReaderVersion INTEGER, minWriterVersion INTEGER, readerFeatures VARCHAR[], writerFeatures VARCHAR[])",
  metaData: `STRUCT(id VARCHAR, name VARCHAR, description VARCHAR, format STRUCT(provider VARCHAR, "options" ${TEXTS}), schemaString VARCHAR, partitionColumns VARCHAR[], configuration ${TEXTS}, createdTime BIGINT)`,
  txn: "STRUCT(appId VARCHAR, version BIGINT, lastUpdated BIGINT)",
  add: `STRUCT(path VARCHAR, partitionValues ${TEXTS}, size BIGINT, modificationTime BIGINT, dataChange BOOLEAN, stats VARCHAR, tags ${TEXTS})`,
  remove: `STRUCT(path VARCHAR, deletionTimestamp BIGINT, dataChange BOOLEAN, extendedFileMetadata BOOLEAN, partitionValues ${TEXTS}, size BIGINT)`,
};

/** The bytes of a checkpoint with these actions, which a temporary database writes. */
async function checkpointBytes(actions: readonly object[]): Promise<Buffer> {
  return await inTemporaryFolder("lake", async (folder) => {
    const folders = { temporaryDirectory: folder, allowedDirectories: [folder] };
    await using database = await openForScanning({ ...folders, memoryLimitMb: 512, threads: 1 });
    const [lines, file] = [join(folder, "actions.json"), join(folder, "checkpoint.parquet")];
    await writeFile(lines, commitText(actions));
    const columns = Object.entries(COLUMNS).map(([name, type]) => `${name}: ${quoteLiteral(type)}`);
    const rows = `read_json(${quoteLiteral(lines)}, format = 'newline_delimited', columns = {${columns.join(", ")}})`;
    await execute(
      database.connection,
      `COPY (FROM ${rows}) TO ${quoteLiteral(file)} (FORMAT parquet, COMPRESSION snappy)`,
    );
    return readFile(file);
  });
}

/** Writes a checkpoint after a commit if the last one is 50 versions old. A crash leaves a readable log. */
async function writeDueCheckpoint(
  store: Store,
  table: string,
  version: number,
  nowMs: number,
): Promise<void> {
  const last = (await lastCheckpointVersion(store, table)) ?? 0;
  if (version - last < 50) return;
  const state = await readTable(store, table);
  // Our checkpoint would lose actions of features that we do not know.
  if (state === null || blockingReason(state, { columns: [] }) !== null) return;
  await writeCheckpoint(store, state, nowMs);
}

/** Writes a checkpoint of a state, and points `_last_checkpoint` to it unless that names a later one. */
export async function writeCheckpoint(store: Store, state: TableState, nowMs: number): Promise<void> {
  const { table, version, files, removed, protocol, metaData, transactions } = state;
  const since = nowMs - retentionOf(metaData).filesMs;
  const actions = [
    { protocol },
    metaDataLine(metaData),
    ...[...transactions].map(([appId, { number, lastUpdatedMs }]) => ({
      txn: { appId, version: number, lastUpdated: lastUpdatedMs },
    })),
    ...[...removed.values()]
      .filter((file) => file.removedMs > since)
      .map(({ remove }) => ({
        remove: { ...remove, dataChange: false, extendedFileMetadata: remove.size !== null },
      })),
    ...[...files.values()].map(({ add }) => ({ add: { ...add, dataChange: false } })),
  ];
  const body = await checkpointBytes(actions);
  // An existing checkpoint of this version has the same content.
  await store.putNew(`${beginning(table, version)}.checkpoint.parquet`, body);
  if (((await lastCheckpointVersion(store, table)) ?? -1) >= version) return;
  const hint = { version, size: actions.length, sizeInBytes: body.length, numOfAddFiles: files.size };
  await store.put(lastCheckpointKey(table), Buffer.from(JSON.stringify(hint)));
}

/**
 * Removes the log before the newest checkpoint that is older than the retention, so that younger versions stay readable.
 * `allVersions`: the log before this state, after a checkpoint of it. Gives the number of removed files.
 */
export async function cleanLog(
  store: Store,
  state: TableState,
  { nowMs, allVersions }: { readonly nowMs: number; readonly allVersions: boolean },
): Promise<number> {
  const { files, commits, checkpoints } = await listLog(store, state.table, 0);
  const sinceMs = nowMs - retentionOf(state.metaData).logMs;
  const old = commits.findLast(({ modifiedMs }) => modifiedMs < sinceMs)?.version ?? -1;
  const checkpoint = checkpoints.findLast(({ version }) => version <= old)?.version ?? 0;
  const first = allVersions ? state.version : checkpoint;
  const keys = files.filter(({ version }) => version < first).map(({ key }) => key);
  // With `checkpointProtection`, earlier versions than this may only be removed all together.
  const protectedBefore = state.metaData.configuration["delta.requireCheckpointProtectionBeforeVersion"];
  if (keys.length === 0 || first < Number(protectedBefore ?? 0)) return 0;
  if (allVersions) await writeCheckpoint(store, state, nowMs);
  await store.remove(keys);
  return keys.length;
}
