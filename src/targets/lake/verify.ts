/** Holds a run in the lake against its manifest: the versions of the tables that have it, their files, and its copy. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import type { TargetRun } from "../../pipeline.ts";
import { scalar } from "../../storage/duckdb.ts";
import { inParallel } from "../../storage/parallel.ts";
import { exactPattern, quoteLiteral } from "../../storage/sql-text.ts";
import { parseRunName } from "../../warehouse/layout.ts";
import { MANIFEST_FILE, type Manifest, readManifest } from "../../warehouse/manifest.ts";
import { runCalled } from "../../warehouse/retention.ts";
import type { FileContent, Store } from "../store/store.ts";
import { type Claim, type ClaimedTable, isCopied, keyedFiles, rowsIn } from "./claim.ts";
import { BlockedTable } from "./delta/blocked.ts";
import { readTable, readTableAt } from "./delta/read.ts";
import { filesOf, type TableState } from "./delta/state.ts";
import { recordsOf } from "./delta/statistics.ts";
import { assertStays, LANES, type LakePlace } from "./finish.ts";
import { claimOfRun, historyOf } from "./history.ts";
import { folderOf } from "./restore.ts";
import { inScratch } from "./scratch.ts";
import { snapshotOf } from "./snapshots.ts";
import { BRINGS, waitingOf } from "./waiting.ts";

export interface LakeVerification {
  readonly instance: string;
  readonly run: string;
  readonly sequence: number;
  /** Names of the tables that do not have the run; their files are read, and not counted. */
  readonly missing: readonly string[];
  readonly tables: number;
  /** Files of the tables and of the copy. */
  readonly files: number;
  readonly bytes: number;
  readonly rows: number;
  /** Sentences; empty: everything is as it was delivered, but to tables that wait. */
  readonly findings: readonly string[];
  /** Sentences of tables that do not have the run, or will have no later one until another program's change is undone. */
  readonly waits: readonly string[];
}

/**
 * Reads a run back whole. `wanted`: its name or number; undefined for the last one. Throws `config.not_found` where the lake has no such
 * run, or does not keep what it was, `target.fenced` where the instance is being removed.
 */
export async function verifyLake(
  { store, instance }: LakePlace,
  wanted: string | undefined,
): Promise<LakeVerification> {
  const claim = await wantedClaim(store, instance, wanted);
  const tables = claim.tables.filter(({ files }) => files.length > 0);
  return inScratch(async (connection, folder) => {
    const { versions, missing } = await snapshotOf(store, claim);
    const isLast = (await historyOf(store, instance)).claim?.sequence === claim.sequence;
    const manifests: Manifest[] = [];
    const ofManifest = await findings(async () => {
      await store.download(folderOf(claim) + MANIFEST_FILE, join(folder, MANIFEST_FILE), claim.manifest);
      const manifest = await readManifest(folder);
      manifests.push(manifest);
      return manifestFindings(manifest, tables);
    });
    const there = tables.filter(({ name }) => !missing.includes(name));
    const ofTables = await inParallel(LANES, there, (_, table) =>
      tableFindings(store, claim, table, { isLast, version: versions.get(table.name) }),
    );
    const blocked = isLast
      ? await inParallel(LANES, claim.tables, (_, table) => waitingOf(store, table))
      : [];
    const whys = new Map(blocked.flat().map(({ table, why }) => [table, why]));
    const wayOut = (name: string) => whys.get(name) ?? (isLast ? BRINGS : "A later run is in its place.");
    const waits = missing.map((name) => `${name} does not have the run. ${wayOut(name)}`);
    const copies = manifests
      .flatMap((manifest) => manifest.files)
      .filter(({ path }) => isCopied(path, claim.claimVersion))
      .map((file) => ({ ...file, key: folderOf(claim) + file.path }));
    const ofFiles = await inParallel(LANES, [...keyedFiles(tables), ...copies], (_, file) =>
      fileFindings(store, connection, folder, file),
    );
    const ofRows = keyedFiles(there);
    const files = [...ofRows, ...copies];
    return {
      instance,
      run: claim.run,
      sequence: claim.sequence,
      missing,
      tables: there.length,
      files: files.length,
      bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
      rows: rowsIn(ofRows),
      findings: [...ofManifest, ...ofTables.flat(), ...ofFiles.flat()],
      waits: [...waits, ...[...whys].flatMap(([name, why]) => (missing.includes(name) ? [] : [why]))],
    };
  });
}

async function wantedClaim(store: Store, instance: string, wanted: string | undefined): Promise<Claim> {
  const history = await historyOf(store, instance);
  assertStays(store, history);
  if (wanted === undefined) {
    if (history.claim !== null) return history.claim;
  } else {
    const sequence = parseRunName(wanted)?.sequence ?? Number(wanted);
    const isWanted = (run: TargetRun) => runCalled(wanted, [run]) !== undefined;
    const claim = await claimOfRun(store, instance, sequence, isWanted);
    if (claim !== undefined) return claim;
  }
  const what = wanted === undefined ? "no run" : `no run "${wanted}", or does not keep it any more,`;
  throw new WarehouseError(
    "config.not_found",
    `${store.address} has ${what} of the instance ${instance}; "content-warehouse lake status" shows what it has.`,
  );
}

/** What is wrong with an object is a finding; a store that does not answer is thrown. */
async function findings(work: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await work();
  } catch (thrown) {
    const { code, message } = asWarehouseError(thrown);
    if (code === "target.refused" || code === "verify.failed") return [message];
    throw thrown;
  }
}

/** The claim against the manifest: digests and rows of each table. */
function manifestFindings(manifest: Manifest, tables: readonly ClaimedTable[]): string[] {
  return Object.entries(manifest.rows).flatMap(([name, rows]) => {
    const claimed = tables.find((table) => table.name === name)?.files ?? [];
    const stated = manifest.files.filter(({ path }) => path.startsWith(`parquet/${name}/`));
    const isSame = digestsOf(claimed) === digestsOf(stated) && rowsIn(claimed) === rows;
    return isSame ? [] : [`The claim of the run has other files of ${name} than its manifest.`];
  });
}

function digestsOf(files: readonly { readonly sha256: string }[]): string {
  return files
    .map(({ sha256 }) => sha256)
    .toSorted()
    .join(" ");
}

/** The version that `run_snapshots` names, and the newest one where this is the last run. */
function tableFindings(
  store: Store,
  claim: Claim,
  { name, files }: ClaimedTable,
  { isLast, version }: { readonly isLast: boolean; readonly version: number | undefined },
): Promise<readonly string[]> {
  const { instance } = claim;
  return findings(async () => {
    if (version === undefined) return [`run_snapshots names no version of ${name} for the run ${claim.run}.`];
    const newest = isLast ? await readIfReadable(store, name) : null;
    const state = await readTableAt(store, name, version).catch((thrown: unknown) => {
      // The log keeps versions for the retention; the rows of an instance that has no run for longer stay.
      if (newest !== null && version < (newest.checkpoint ?? 0)) return newest;
      throw thrown;
    });
    const there = new Map(filesOf(state, instance).map((file) => [file.path, file]));
    const wrong = files.filter(({ path, bytes, rows }) => {
      const found = there.get(path);
      return found === undefined || found.add.size !== bytes || recordsOf(found.add) !== rows;
    });
    const counts = newest === null ? [] : filesOf(newest, instance).map(({ add }) => recordsOf(add));
    const rows = counts.reduce<number>((sum, each) => sum + (each ?? 0), 0);
    const isChanged = newest !== null && !counts.includes(null) && rows !== rowsIn(files);
    const isOther = wrong.length > 0 || there.size !== files.length;
    const other = `Version ${state.version} of ${name} has other files than the run ${claim.run}.`;
    const changed = `The newest version of ${name} has ${rows} rows where the run has ${rowsIn(files)}: somebody changed it.`;
    return [...(isOther ? [other] : []), ...(isChanged ? [changed] : [])];
  });
}

/** Null also where another program gave it what we do not read; it waits then. */
async function readIfReadable(store: Store, table: string): Promise<TableState | null> {
  try {
    return await readTable(store, table);
  } catch (thrown) {
    if (thrown instanceof BlockedTable) return null;
    throw thrown;
  }
}

interface KeyedFile extends FileContent {
  readonly key: string;
  /** Null of what is not Parquet. */
  readonly rows: number | null;
}

/** Downloads a file, which checks it, and counts its rows. */
function fileFindings(
  store: Store,
  connection: DuckDBConnection,
  folder: string,
  { key, rows, ...content }: KeyedFile,
): Promise<readonly string[]> {
  return findings(async () => {
    const file = join(folder, randomUUID());
    try {
      await store.download(key, file, content);
      const count = `SELECT num_rows FROM parquet_file_metadata(${quoteLiteral(exactPattern(file))})`;
      const found = rows === null ? null : await scalar(connection, count);
      return found === rows ? [] : [`${key} has ${found} rows instead of ${rows}.`];
    } finally {
      await rm(file, { force: true });
    }
  });
}
