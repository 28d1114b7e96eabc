/** Compares the last run of an instance with what the lake has of it. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import { inParallel } from "../../storage/parallel.ts";
import { DATABASE_FILE } from "../../warehouse/layout.ts";
import { MANIFEST_FILE, type PublishedFile, parseManifest } from "../../warehouse/manifest.ts";
import { readTable } from "./delta/read.ts";
import { filesOf } from "./delta/state.ts";
import { recordsOf } from "./delta/statistics.ts";
import { copyFolder, dataFolder } from "./keys.ts";
import { lookAt } from "./look.ts";
import { LANES, type LakePlace } from "./place.ts";
import { filesWithKeys, manifestOf } from "./restore.ts";
import { inScratch } from "./scratch.ts";
import type { LakeRun } from "./snapshots.ts";

export interface LakeVerification {
  readonly instance: string;
  readonly run: string;
  readonly sequence: number;
  readonly tables: number;
  /** Files of the tables and of the copy. */
  readonly files: number;
  readonly bytes: number;
  readonly rows: number;
  /** Sentences; empty: everything is as it was delivered. */
  readonly findings: readonly string[];
}

type KeyedFile = PublishedFile & { readonly key: string };

/**
 * Compares each file with its size, and each table's newest version with the run's rows. `full`: downloads each file and
 * compares its SHA-256. Throws `config.not_found` if the lake has no run of the instance.
 */
export async function verifyLake(
  place: LakePlace,
  { full }: { readonly full: boolean },
): Promise<LakeVerification> {
  const { store, instance } = place;
  const { last, isUnfinished } = await lookAt(place, null);
  if (last === null)
    throw new WarehouseError(
      "config.not_found",
      `${store.address} has no run of the instance ${instance}; "content-warehouse lake status" shows what it has.`,
    );
  let files: readonly KeyedFile[] = [];
  const ofManifest = await findings(async () => {
    const name = copyFolder(instance, last.delivery) + MANIFEST_FILE;
    const { manifest, sha256 } = parseManifest(await manifestOf(place, last), name);
    if (sha256 !== last.sha256) return [`${name} is not the manifest that was delivered.`];
    files = filesWithKeys(instance, last, manifest.files);
    const named = new Set(files.map(({ path }) => path));
    const unnamed = manifest.files.filter(({ path }) => path !== DATABASE_FILE && !named.has(path));
    return unnamed.map(({ path }) => `run_snapshots names no file for ${path} of the run.`);
  });
  const ofFiles = full ? await compareDigests(place, files) : await compareSizes(place, last, files);
  // The newest versions are on their way to a later run.
  const rows = isUnfinished ? [] : last.rows;
  const ofTables = await inParallel(LANES, rows, (_, row) =>
    findings(async () => {
      const state = await readTable(store, row.table_name);
      const records = state === null ? [] : filesOf(state, instance).map(({ add }) => recordsOf(add));
      const found = records.reduce<number>((sum, each) => sum + (each ?? 0), 0);
      if (records.includes(null) || found === row.rows) return [];
      return [
        `The newest version of ${row.table_name} has ${found} rows, and the run has ${row.rows}: somebody changed it.`,
      ];
    }),
  );
  return {
    instance,
    run: last.run,
    sequence: last.sequence,
    tables: last.rows.length,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    rows: last.rows.reduce((sum, row) => sum + row.rows, 0),
    findings: [...ofManifest, ...ofFiles, ...ofTables.flat()],
  };
}

async function compareSizes(
  { store, instance }: LakePlace,
  { rows, delivery }: LakeRun,
  files: readonly KeyedFile[],
): Promise<readonly string[]> {
  const sizes = new Map<string, number>();
  const folders = rows.map(({ table_name }) => dataFolder(table_name, instance));
  await inParallel(LANES, [...folders, copyFolder(instance, delivery)], async (_, folder) => {
    for await (const { key, bytes } of store.list(folder)) sizes.set(key, bytes);
  });
  return files.flatMap(({ key, bytes }) => {
    const found = sizes.get(key);
    if (found === bytes) return [];
    return [found === undefined ? `${key} is missing.` : `${key} has ${found} bytes instead of ${bytes}.`];
  });
}

function compareDigests({ store }: LakePlace, files: readonly KeyedFile[]): Promise<readonly string[]> {
  return inScratch(async (_connection, folder) => {
    const found = await inParallel(LANES, files, (_, file) =>
      findings(async () => {
        const copy = join(folder, randomUUID());
        await store.download(file.key, copy, file);
        await rm(copy);
        return [];
      }),
    );
    return found.flat();
  });
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
