/** Puts a commit as the next version of a table. */
import { randomUUID } from "node:crypto";
import { VERSION } from "../../../common/version.ts";
import type { Store } from "../../store/store.ts";
import { putCommit } from "./log.ts";
import {
  DELTA_TYPES,
  type DeltaTable,
  fieldsOf,
  INSTANCE,
  retentionProperties,
  withRetention,
} from "./metadata.ts";
import { type ActiveFile, type MetaDataAction, metaDataLine, type TableState } from "./state.ts";

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

/** Puts a change as the next version of a table, as {@link putCommit} does. */
export async function putNext(
  store: Store,
  state: TableState | null,
  change: TableChange,
  nowMs: number,
): Promise<number | "taken" | "passed"> {
  const { name } = change.table;
  const version = state === null ? 0 : state.version + 1;
  const txnId = randomUUID();
  const lines = linesOf(state, change, { txnId, nowMs });
  return await putCommit(store, name, { version, txnId, lines, nowMs });
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
    const metaData = newMetaData(table, retentionDays, nowMs);
    return [{ protocol: { minReaderVersion: 1, minWriterVersion: 2 } }, metaDataLine(metaData)];
  }
  // Without files there are no new columns.
  const widest = files === null || files.length === 0 ? state.metaData : widenMetaData(state, table);
  const metaData = withRetention(widest, retentionDays);
  return metaData === state.metaData ? [] : [metaDataLine(metaData)];
}

/**
 * Says that files have no bounds of columns. By default readers expect them of the first 32 columns: deltalake's pyarrow
 * dataset, and polars and DuckDB with it, leaves out every row of a file that lacks them.
 */
const NO_INDEXED_COLUMNS = { "delta.dataSkippingNumIndexedCols": "0" };

/** Metadata of a new table, which keeps earlier versions for this number of days. */
function newMetaData(declared: DeltaTable, retentionDays: number, createdMs: number): MetaDataAction {
  const comment = "Name of the instance that the row was exported from.";
  const partition = { name: INSTANCE, type: "string", nullable: false, metadata: { comment } };
  return {
    id: randomUUID(),
    name: declared.name,
    description: declared.comment,
    schemaString: schemaText([partition, ...declared.columns.map((column) => fieldOf(column))]),
    partitionColumns: [INSTANCE],
    configuration: { ...retentionProperties(retentionDays), ...NO_INDEXED_COLUMNS },
    createdTime: createdMs,
  };
}

/**
 * Metadata of a table that also takes rows with these columns; the same object if it takes them already. New columns come
 * last and are nullable. Columns that are no longer declared, or are nullable now, become nullable.
 */
function widenMetaData(state: TableState, declared: DeltaTable): MetaDataAction {
  const fields = fieldsOf(state);
  const columns = new Map(declared.columns.map((column) => [column.name, column]));
  const loosened = fields.map((each) =>
    each.nullable || each.name === INSTANCE || columns.get(each.name)?.nullable === false
      ? each
      : { ...each, nullable: true },
  );
  const known = new Set(fields.map(({ name }) => name));
  const joining = declared.columns
    .filter(({ name }) => !known.has(name))
    .map((column) => fieldOf({ ...column, nullable: true }));
  if (joining.length === 0 && loosened.every((each, place) => each === fields[place])) return state.metaData;
  return { ...state.metaData, schemaString: schemaText([...loosened, ...joining]) };
}

function fieldOf({ name, type, nullable, comment }: DeltaTable["columns"][number]) {
  return { name, type: DELTA_TYPES[type], nullable, metadata: { comment } };
}

function schemaText(fields: ReturnType<typeof fieldsOf>): string {
  return JSON.stringify({ type: "struct", fields });
}
