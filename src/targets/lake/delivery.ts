/** What is delivered to a lake, and step 2 of a delivery: files that the tables do not have are uploaded. */
import { join } from "node:path";
import type { DeliveredRun } from "../../pipeline.ts";
import { mapLimited } from "../../storage/parallel.ts";
import { activeFiles, type TableState } from "./delta/state.ts";
import { type DeliveryTable, type LakeSession, tablesToCommit } from "./instance.ts";
import { copyFolder, dataFolder, hasDigest, isCopied, newPath } from "./keys.ts";

type DeliveryFile = DeliveryTable["files"][number];

export interface LakeDelivery {
  /** `null` if the instance is removed from all tables. */
  readonly run: DeliveredRun | null;
  /** Tables of the run. */
  readonly tables: readonly DeliveryTable[];
  /** Files that this delivery has uploaded: local path to path below the table's folder. */
  readonly uploaded: Map<string, string>;
  /** Milliseconds since 1970. */
  readonly beganMs: number;
  readonly signal: AbortSignal;
  /** Called with the size of each uploaded file. */
  readonly onUpload: (bytes: number) => void;
}

/** A file of a run with its path below the table's folder. */
export type LakeFile = DeliveryFile & { readonly path: string };

/** The tables of a run with their files, as its manifest describes them. */
export function describeTables(run: DeliveredRun): readonly DeliveryTable[] {
  const contents = new Map(run.files.map((file) => [join(run.directory, file.path), file]));
  return run.tables.map(({ table: { name, comment, columns }, files: paths }) => {
    const files = paths.map((file) => {
      const { bytes, sha256, rows } = contents.get(file) ?? {};
      if (bytes === undefined || sha256 === undefined || rows == null)
        throw new TypeError(`${file} is not in the manifest of its run`);
      return { file, bytes, sha256, rows };
    });
    return { name, comment, columns, files };
  });
}

/** Uploads the files that the tables do not name, or that they name and the store has lost. */
export async function uploadTables(session: LakeSession, delivery: LakeDelivery): Promise<void> {
  const { store, instance } = session;
  await mapLimited(await tablesToCommit(session, delivery.tables), async ({ declared, state }) => {
    if (declared.files.length === 0) return;
    const sizes = new Map<string, number>();
    for await (const { key, bytes } of store.list(dataFolder(declared.name, instance))) sizes.set(key, bytes);
    const isStored = (path: string, file: DeliveryFile) =>
      sizes.get(`${declared.name}/${path}`) === file.bytes;
    await uploadFiles(session, delivery, { declared, state }, isStored);
  });
}

/**
 * Gives the path of each of a run's files in a table: that of an upload of this delivery, else that of a file with the same
 * content in the table's state, else a new one, to which the file is uploaded. `isStored`: whether the store has the object.
 */
export async function uploadFiles(
  { store, instance }: LakeSession,
  { uploaded, onUpload }: LakeDelivery,
  { declared, state }: { readonly declared: DeliveryTable; readonly state: TableState | null },
  isStored: (path: string, file: DeliveryFile) => boolean = () => true,
): Promise<readonly LakeFile[]> {
  const free = new Map(activeFiles(state, instance).map(({ path, add }) => [path, add.size]));
  const paths = declared.files.map((file) => {
    const isSame = ([path, size]: readonly [string, number]) =>
      size === file.bytes && hasDigest(path, file.sha256) && isStored(path, file);
    const path = uploaded.get(file.file) ?? [...free].find(isSame)?.[0];
    if (path !== undefined) free.delete(path);
    return { file, path };
  });
  return await mapLimited(paths, async ({ file, path }) => {
    if (path !== undefined) return { ...file, path };
    const added = newPath(declared.name, instance, file.sha256);
    await store.upload(`${declared.name}/${added}`, file.file, file);
    uploaded.set(file.file, added);
    onUpload(file.bytes);
    return { ...file, path: added };
  });
}

/** Uploads the copy of the run, its manifest last. No other delivery has this number, so the folder is free. */
export async function uploadCopy(
  { store, instance }: LakeSession,
  { run, onUpload }: LakeDelivery,
  number: number,
): Promise<void> {
  if (run === null) return;
  const folder = copyFolder(instance, number);
  const upload = async ({ path, bytes, sha256 }: (typeof run)["manifest"]) => {
    await store.upload(folder + path, `${run.directory}/${path}`, { bytes, sha256 });
    onUpload(bytes);
  };
  const copied = run.files.filter(({ path }) => isCopied(path));
  await mapLimited(copied, upload);
  await upload(run.manifest);
}
