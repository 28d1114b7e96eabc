/** Commits a run to a table: one new version, put where there is none. */
import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../../../common/clock.ts";
import { VERSION } from "../../../common/version.ts";
import type { Store } from "../../store/store.ts";
import type { Claim, ClaimedFile } from "../claim.ts";
import { type AddAction, commitText, encodePath, metaDataLine } from "./actions.ts";
import { assertWritable } from "./blocked.ts";
import { commitKey, listLog } from "./log-files.ts";
import { readNewer, readTable } from "./read.ts";
import { withRetention } from "./retention.ts";
import { type DeclaredTable, INSTANCE, newMetaData, PROTOCOL, widened } from "./schema.ts";
import { type ActiveFile, filesOf, type TableState } from "./state.ts";
import { namingStatistics, statisticsText } from "./statistics.ts";

const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 2000;

export interface CommitTiming {
  readonly clock: Clock;
  readonly random: () => number;
}

const SYSTEM: CommitTiming = { clock: systemClock, random: Math.random };

/** A replacement of all files that one instance has in a table. `sequence` is the version of the instance's `txn`. */
export interface Replacement extends Pick<Claim, "instance" | "sequence" | "attempt" | "atMs"> {
  /** Null: none, the instance is removed. */
  readonly run: string | null;
  /** The latest run that it takes the place of by a rollback. */
  readonly rollbackOf?: Claim["rollbackOf"];
  readonly table: DeclaredTable;
  readonly files: readonly AddedFile[];
  /** Days that earlier versions are kept, by the instance's setting. */
  readonly retentionDays: number;
  /** Version that has other files of the same run, in place of which these come; unless given, there is none. */
  readonly revises?: number | undefined;
  /** Applications that get a `txn` with the run's number beside the instance's own. */
  readonly also?: readonly string[];
}
type AddedFile = Omit<ClaimedFile, "sha256">;

/**
 * Replaces an instance's files in a table by those of a run, in one version, and gives its number; null: the table has a
 * later run of the instance. Files that the table has stay as they are. Where it has these and no others, and keeps earlier
 * ones as long as it should, nothing is committed, and the version that is there has the run. Told again, by anybody, it finds that version, or the one that was
 * committed: the `txn` of the instance decides, whatever became of the answer to its put. Where others commit at the same time it tries again until the signal
 * is aborted, and throws its reason then. Throws BlockedTable where the table cannot take the run.
 */
export async function commitReplacement(
  store: Store,
  replacement: Replacement,
  signal: AbortSignal,
  { clock, random }: CommitTiming = SYSTEM,
): Promise<number | null> {
  const { table, instance, sequence } = replacement;
  let state = await readTable(store, table.name);
  for (let failed = 0; ; failed++) {
    const there = state?.transactions.get(instance);
    const isRevised = there?.sequence === sequence && there.version === replacement.revises;
    if (there !== undefined && there.sequence >= sequence && !isRevised)
      return there.sequence === sequence ? there.version : null;
    // Also before one without change: a check, which does not know the rows, says the same.
    assertWritable(state, table);
    if (state !== null && hasAll(state, replacement)) return state.version;
    const version = state === null ? 0 : state.version + 1;
    const body = Buffer.from(commitText(actionsOf(state, replacement, clock.now())));
    const isPut = await store.putNew(commitKey(table.name, version), body);
    const mayBePassed = await hasCheckpointFrom(store, table.name, version);
    if (isPut && !mayBePassed) return version;
    if (failed > 0)
      await clock.sleep(random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failed), signal);
    state = await (state === null || mayBePassed ? readTable(store, table.name) : readNewer(store, state));
  }
}

/**
 * Whether readers may begin after a version: then it may have been put where the log before a checkpoint is gone, which
 * nobody reads any more.
 */
async function hasCheckpointFrom(store: Store, table: string, version: number): Promise<boolean> {
  return (await listLog(store, table, version)).checkpoints.length > 0;
}

/** Whether nothing of it is new: neither the files nor how long the table keeps earlier ones. */
function hasAll(state: TableState, replacement: Replacement): boolean {
  return hasFiles(state, replacement) && withRetention(state.metaData, replacement) === state.metaData;
}

/**
 * Whether the files are those that the instance has in the table. No files are not: an earlier run that was left half-way
 * may have some still, and would be shown by whoever goes on with it, if the `txn` did not say that there is a later one.
 */
function hasFiles(state: TableState, { instance, files }: Replacement): boolean {
  const there = new Set(filesOf(state, instance).map(({ path }) => path));
  return files.length > 0 && files.length === there.size && files.every(({ path }) => there.has(path));
}

/** The lines of the commit that makes a table's next version. */
function actionsOf(state: TableState | null, replacement: Replacement, nowMs: number): object[] {
  const { instance, sequence, files, also = [] } = replacement;
  const paths = new Set(files.map(({ path }) => path));
  const active = state === null ? [] : [...state.files.values()];
  const isKept = (file: ActiveFile) => file.instance !== instance || paths.has(file.path);
  const kept = active.filter(isKept);
  const there = new Set(kept.map(({ path }) => path));
  const added = files.filter(({ path }) => !there.has(path)).map((file) => addition(file, replacement));
  return [
    { commitInfo: commitInfo(state, replacement, nowMs) },
    ...definition(state, replacement, { adds: [...kept.map(({ add }) => add), ...added], nowMs }),
    ...[instance, ...also].map((appId) => ({ txn: { appId, version: sequence, lastUpdated: nowMs } })),
    ...active.filter((file) => !isKept(file)).map((file) => ({ remove: removal(file, nowMs) })),
    ...added.map((add) => ({ add })),
  ];
}

function commitInfo(
  state: TableState | null,
  { run, attempt, instance, rollbackOf }: Replacement,
  nowMs: number,
): object {
  const removing = { predicate: JSON.stringify([`${INSTANCE} = '${instance}'`]) };
  const writing = {
    mode: "Overwrite",
    partitionBy: JSON.stringify([INSTANCE]),
    instance,
    run,
    ...(rollbackOf && { rollbackOf: rollbackOf.run }),
  };
  return {
    timestamp: nowMs,
    operation: run === null ? "DELETE" : "WRITE",
    operationParameters: run === null ? removing : writing,
    ...(state === null ? {} : { readVersion: state.version }),
    isBlindAppend: false,
    engineInfo: `content-warehouse/${VERSION}`,
    txnId: attempt,
  };
}

/** What the table is, where that is new. `adds`: of all files that it has then. */
function definition(
  state: TableState | null,
  replacement: Replacement,
  { adds, nowMs }: { readonly adds: readonly Pick<AddAction, "stats">[]; readonly nowMs: number },
): object[] {
  const { table, files } = replacement;
  if (state === null) {
    const made = newMetaData(table, randomUUID(), nowMs, replacement);
    return [{ protocol: PROTOCOL }, metaDataLine(namingStatistics(table.name, made, adds))];
  }
  // Without files there are no rows that the columns would have to fit.
  const widest = files.length === 0 ? state.metaData : widened(state, table);
  const metaData = namingStatistics(table.name, withRetention(widest, replacement), adds);
  return metaData === state.metaData ? [] : [metaDataLine(metaData)];
}

function removal({ add: { path, partitionValues, size } }: ActiveFile, deletionTimestamp: number): object {
  return { path, deletionTimestamp, dataChange: true, extendedFileMetadata: true, partitionValues, size };
}

function addition(file: AddedFile, { instance, atMs }: Replacement) {
  return {
    path: encodePath(file.path),
    partitionValues: { [INSTANCE]: instance },
    size: file.bytes,
    modificationTime: atMs,
    dataChange: true,
    stats: statisticsText(file),
  };
}
