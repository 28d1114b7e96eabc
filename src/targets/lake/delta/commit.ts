/** Puts a commit as the next version of a table. */
import { randomUUID } from "node:crypto";
import { VERSION } from "../../../common/version.ts";
import type { Store } from "../../store/store.ts";
import { commitKey, listLog, readCommit } from "./log.ts";
import { type DeltaTable, INSTANCE, newMetaData, widenMetaData, withRetention } from "./metadata.ts";
import { type ActiveFile, commitText, metaDataLine, type TableState } from "./state.ts";

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

interface DataFile {
  /** Path below the table's folder, not encoded. */
  readonly path: string;
  readonly bytes: number;
  readonly rows: number;
}

/**
 * Puts a change as the next version of a table and gives the version. `taken`: another writer has it. `passed`: the log has
 * a later checkpoint, so readers may not see this version. If the answer is lost, it finds its own commit by its ID.
 */
export async function putNext(
  store: Store,
  state: TableState | null,
  change: TableChange,
  nowMs: number,
): Promise<number | "taken" | "passed"> {
  const { name } = change.table;
  const version = state === null ? 0 : state.version + 1;
  const txnId = randomUUID();
  const body = Buffer.from(commitText(linesOf(state, change, { txnId, nowMs })));
  if (!(await store.putNew(commitKey(name, version), body))) {
    const there = (await readCommit(store, name, version)) ?? [];
    if (!there.some(({ commitInfo }) => commitInfo?.txnId === txnId)) return "taken";
  }
  const { checkpoints } = await listLog(store, name, version);
  return checkpoints.length > 0 ? "passed" : version;
}

function linesOf(
  state: TableState | null,
  change: TableChange,
  { txnId, nowMs }: { readonly txnId: string; readonly nowMs: number },
): object[] {
  const { instance, number, files, run, also = [] } = change;
  const paths = files && new Set(files.map(({ path }) => path));
  const active = [...(state?.files.values() ?? [])];
  const isKept = (file: ActiveFile) => file.instance !== instance || paths === null || paths.has(file.path);
  const there = new Set(active.filter(isKept).map(({ path }) => path));
  const added = (files ?? []).filter(({ path }) => !there.has(path));
  const removing = { predicate: JSON.stringify([`${INSTANCE} = '${instance}'`]) };
  const writing = { mode: "Overwrite", partitionBy: JSON.stringify([INSTANCE]), instance, run };
  const commitInfo = {
    timestamp: nowMs,
    operation: run === null ? "DELETE" : "WRITE",
    operationParameters: { ...(run === null ? removing : writing), delivery: String(number) },
    ...(state === null ? {} : { readVersion: state.version }),
    isBlindAppend: false,
    engineInfo: `content-warehouse/${VERSION}`,
    txnId,
  };
  return [
    { commitInfo },
    ...definition(state, change, nowMs),
    ...[instance, ...also].map((appId) => ({ txn: { appId, version: number, lastUpdated: nowMs } })),
    ...active
      .filter((file) => !isKept(file))
      .map(({ add: { path, partitionValues, size } }) => {
        const file = { path, partitionValues, size };
        return {
          remove: { ...file, deletionTimestamp: nowMs, dataChange: true, extendedFileMetadata: true },
        };
      }),
    ...added.map(({ path, bytes, rows }) => ({
      add: {
        path: encodeURI(path).replace(/[?#]/g, encodeURIComponent),
        partitionValues: { [INSTANCE]: instance },
        size: bytes,
        modificationTime: nowMs,
        dataChange: true,
        stats: JSON.stringify({ numRecords: rows }),
      },
    })),
  ];
}

/** Protocol and metadata of a new table, or metadata that change. */
function definition(
  state: TableState | null,
  { table, files, retentionDays }: TableChange,
  nowMs: number,
): object[] {
  if (state === null) {
    const metaData = newMetaData(table, { id: randomUUID(), createdMs: nowMs, retentionDays });
    return [{ protocol: { minReaderVersion: 1, minWriterVersion: 2 } }, metaDataLine(metaData)];
  }
  // Without files there are no new columns.
  const widest = files === null || files.length === 0 ? state.metaData : widenMetaData(state, table);
  const metaData = withRetention(widest, retentionDays);
  return metaData === state.metaData ? [] : [metaDataLine(metaData)];
}
