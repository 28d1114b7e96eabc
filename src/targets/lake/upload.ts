/** Step 2: the files that the tables do not name are uploaded under new names, where no reader looks. */
import { mapParallel } from "../../storage/parallel.ts";
import type { LakeDelivery } from "./delivery.ts";
import type { DeliveryFile, DeliveryTable } from "./delivery-tables.ts";
import { activeFiles, type TableState } from "./delta/state.ts";
import { tablesToCommit } from "./instance.ts";
import { copyFolder, dataFolder, hasDigest, isCopied, newPath } from "./keys.ts";
import { LANES, type LakeSession } from "./session.ts";

/** A file of a run with its path below the table's folder. */
export interface LakeFile extends DeliveryFile {
  readonly path: string;
}

/** Uploads what the tables of the run do not name now, or name and do not have. */
export async function uploadTables(place: LakeSession, delivery: LakeDelivery): Promise<void> {
  const { store, instance } = place;
  const tables = await tablesToCommit(place, delivery.tables);
  await mapParallel(LANES, tables, async (_, { declared, state }) => {
    if (!("files" in declared)) return;
    const bytes = new Map<string, number>();
    for await (const each of store.list(dataFolder(declared.name, instance))) bytes.set(each.key, each.bytes);
    const isThere = (path: string, file: DeliveryFile) =>
      bytes.get(`${declared.name}/${path}`) === file.bytes;
    await uploadFiles(place, delivery, { table: declared, state }, isThere);
  });
}

/**
 * The paths that a run's files have in a table: a file that this delivery uploaded, else one that the table's version names,
 * and else a new one, which is uploaded first. `isThere`: whether the store has an object as a version names it.
 */
export async function uploadFiles(
  place: LakeSession,
  delivery: LakeDelivery,
  { table, state }: { readonly table: DeliveryTable; readonly state: TableState | null },
  isThere: (path: string, file: DeliveryFile) => boolean = () => true,
): Promise<readonly LakeFile[]> {
  const { store, instance } = place;
  const { uploaded } = delivery;
  const active = state === null ? [] : activeFiles(state, instance);
  const free = new Map(active.map(({ path, add }) => [path, add.size]));
  const found = table.files.map((file) => {
    const isSame = ([path, size]: readonly [string, number]) =>
      size === file.bytes && hasDigest(path, file.sha256) && isThere(path, file);
    const path = uploaded.get(file.file) ?? [...free].find(isSame)?.[0];
    if (path !== undefined) free.delete(path);
    return { ...file, path };
  });
  return await mapParallel(LANES, found, async (_, { path, ...file }) => {
    if (path !== undefined) return { ...file, path };
    const made = newPath(table.name, instance, file.sha256);
    await store.upload(`${table.name}/${made}`, file.file, file);
    uploaded.set(file.file, made);
    delivery.onUpload(file.bytes);
    return { ...file, path: made };
  });
}

/** Uploads the run's copy, the manifest last. The folder is the delivery's own, since it claimed the number. */
export async function uploadCopy(
  place: LakeSession,
  { run, onUpload }: LakeDelivery,
  number: number,
): Promise<void> {
  if (run === null) return;
  const folder = copyFolder(place.instance, number);
  const upload = async (_: number, { path, bytes, sha256 }: (typeof run)["manifest"]) => {
    await place.store.upload(folder + path, `${run.directory}/${path}`, { bytes, sha256 });
    onUpload(bytes);
  };
  const copied = run.files.filter(({ path }) => isCopied(path));
  await mapParallel(LANES, copied, upload);
  await upload(0, run.manifest);
}
