/** Puts a commit as the next version of a table. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../../../common/clock.ts";
import { VERSION } from "../../../common/version.ts";
import type { Store } from "../../store/store.ts";
import { commitText, encodePath, type FileStatistics, metaDataLine, statisticsText } from "./actions.ts";
import { commitKey, listLog } from "./log-files.ts";
import { readCommit, readNewer, readTable } from "./read.ts";
import { withRetention } from "./retention.ts";
import { type DeltaTable, INSTANCE, newMetaData, PROTOCOL, widenMetaData } from "./schema.ts";
import { type ActiveFile, activeFiles, type TableState } from "./state.ts";

/** A change of one instance to a table. */
export interface TableChange {
  readonly table: DeltaTable;
  readonly instance: string;
  /** Number of the delivery, which is the version of the instance's `txn`. */
  readonly number: number;
  /** All files of the instance after the change; `null`: they stay as they are. */
  readonly files: readonly DataFile[] | null;
  /** Days for which earlier versions are kept, by the lake's setting. */
  readonly retentionDays: number;
  /** Name of the run; `null` if the instance is removed. */
  readonly run: string | null;
  /** Other applications that get a `txn` with the same number. */
  readonly also?: readonly string[];
}

interface DataFile extends FileStatistics {
  /** Path below the table's folder, not encoded. */
  readonly path: string;
  readonly bytes: number;
}

/**
 * `taken`: another writer has this version. `passed`: the log has a later checkpoint, so readers may not see this version.
 */
type PutResult = { readonly version: number } | "taken" | "passed";

/** Puts a change as the next version of a table. If the answer is lost, it finds its own commit by its ID. */
export async function putNext(
  store: Store,
  state: TableState | null,
  change: TableChange,
  nowMs: number,
): Promise<PutResult> {
  const { name } = change.table;
  const version = state === null ? 0 : state.version + 1;
  const txnId = randomUUID();
  const body = Buffer.from(commitText(linesOf(state, change, { txnId, nowMs })));
  if (!(await store.putNew(commitKey(name, version), body))) {
    const there = (await readCommit(store, name, version)) ?? [];
    if (!there.some(({ commitInfo }) => commitInfo?.txnId === txnId)) return "taken";
  }
  const { checkpoints } = await listLog(store, name, version);
  return checkpoints.length > 0 ? "passed" : { version };
}

const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 2000;

/** Reads the state again after a failed put. `failed`: number of failed puts before it; after the first it waits a little. */
export async function readAgain(
  store: Store,
  {
    table,
    state,
    put,
  }: { readonly table: string; readonly state: TableState | null; readonly put: PutResult },
  { clock, signal, failed }: Readonly<{ clock: Clock; signal: AbortSignal; failed: number }>,
): Promise<TableState | null> {
  if (failed > 0)
    await clock.sleep(Math.random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failed), signal);
  return state === null || put === "passed" ? readTable(store, table) : readNewer(store, state);
}

/** Whether the table has these files already and keeps earlier versions long enough. */
export function isUnchanged(
  state: TableState,
  { instance, files, retentionDays }: Pick<TableChange, "instance" | "files" | "retentionDays">,
): boolean {
  if (withRetention(state.metaData, retentionDays) !== state.metaData) return false;
  const there = new Set(activeFiles(state, instance).map(({ path }) => path));
  return files === null || (files.length === there.size && files.every(({ path }) => there.has(path)));
}

function linesOf(
  state: TableState | null,
  change: TableChange,
  made: { readonly txnId: string; readonly nowMs: number },
): object[] {
  const { instance, number, files, also = [] } = change;
  const paths = files && new Set(files.map(({ path }) => path));
  const active = state === null ? [] : [...state.files.values()];
  const isKept = (file: ActiveFile) => file.instance !== instance || paths === null || paths.has(file.path);
  const there = new Set(active.filter(isKept).map(({ path }) => path));
  const added = (files ?? []).filter(({ path }) => !there.has(path));
  return [
    { commitInfo: commitInfo(state, change, made) },
    ...definition(state, change, made.nowMs),
    ...[instance, ...also].map((appId) => ({ txn: { appId, version: number, lastUpdated: made.nowMs } })),
    ...active.filter((file) => !isKept(file)).map((file) => ({ remove: removal(file, made.nowMs) })),
    ...added.map((file) => ({ add: addition(file, instance, made.nowMs) })),
  ];
}

function commitInfo(
  state: TableState | null,
  { run, instance, number }: TableChange,
  { txnId, nowMs }: { readonly txnId: string; readonly nowMs: number },
): object {
  const removing = { predicate: JSON.stringify([`${INSTANCE} = '${instance}'`]) };
  const writing = { mode: "Overwrite", partitionBy: JSON.stringify([INSTANCE]), instance, run };
  return {
    timestamp: nowMs,
    operation: run === null ? "DELETE" : "WRITE",
    operationParameters: { ...(run === null ? removing : writing), delivery: String(number) },
    ...(state === null ? {} : { readVersion: state.version }),
    isBlindAppend: false,
    engineInfo: `content-warehouse/${VERSION}`,
    txnId,
  };
}

/** Protocol and metadata of a new table, or metadata that change. */
function definition(
  state: TableState | null,
  { table, files, retentionDays }: TableChange,
  nowMs: number,
): object[] {
  if (state === null) {
    const made = newMetaData(table, { id: randomUUID(), createdMs: nowMs, retentionDays });
    return [{ protocol: PROTOCOL }, metaDataLine(made)];
  }
  // Without files there are no new columns.
  const widest = files === null || files.length === 0 ? state.metaData : widenMetaData(state, table);
  const metaData = withRetention(widest, retentionDays);
  return metaData === state.metaData ? [] : [metaDataLine(metaData)];
}

function removal({ add: { path, partitionValues, size } }: ActiveFile, nowMs: number): object {
  const what = { path, partitionValues, size };
  return { ...what, deletionTimestamp: nowMs, dataChange: true, extendedFileMetadata: true };
}

function addition(file: DataFile, instance: string, nowMs: number) {
  return {
    path: encodePath(file.path),
    partitionValues: { [INSTANCE]: instance },
    size: file.bytes,
    modificationTime: nowMs,
    dataChange: true,
    stats: statisticsText(file),
  };
}
