/**
 * Keys of the lake, below its store's address:
 *
 *     <table>/_delta_log/00000000000000000000.json                 log of the table
 *     <table>/instance=<name>/<table>-<digest>-<random>.parquet    data files
 *     _published/instance=<name>/000042/manifest.json              copy of the run of delivery 42
 *
 * A delivery finds a file that the table has already by the digest in its name. Each upload has a new name, so a file that
 * no version names any more is never named again, and `lake vacuum` may delete it.
 */
import { randomBytes } from "node:crypto";
import { TABLE_NAME } from "../../storage/parquet-sql.ts";
import { DATABASE_FILE } from "../../warehouse/layout.ts";
import type { Store } from "../store/store.ts";

const DIGEST_DIGITS = 16;

/** Folder with the copies of an instance's runs. All folders here end with a slash. */
export function copiesFolder(instance: string): string {
  return `_published/instance=${instance}/`;
}

export function copyFolder(instance: string, delivery: number): string {
  return `${copiesFolder(instance)}${String(delivery).padStart(6, "0")}/`;
}

/** Whether a file of a run belongs to the run's copy: all but the tables' files and the DuckDB file do. */
export function isCopied(path: string): boolean {
  return path !== DATABASE_FILE && !path.startsWith("parquet/");
}

export function dataFolder(table: string, instance: string): string {
  return `${table}/instance=${instance}/`;
}

/** A path below the table's folder that no file has yet. */
export function newPath(table: string, instance: string, sha256: string): string {
  const name = `${table}-${sha256.slice(0, DIGEST_DIGITS)}-${randomBytes(4).toString("hex")}`;
  return `instance=${instance}/${name}.parquet`;
}

/** Whether the name of a file has the digest of this content. */
export function hasDigest(path: string, sha256: string): boolean {
  return /-([0-9a-f]{16})-[0-9a-f]{8}\.parquet$/.exec(path)?.[1] === sha256.slice(0, DIGEST_DIGITS);
}

export async function tableNames(store: Store): Promise<string[]> {
  const names = (await store.folders("")).map((folder) => folder.slice(0, -1));
  return names.filter((name) => TABLE_NAME.test(name) && !name.startsWith("_"));
}
