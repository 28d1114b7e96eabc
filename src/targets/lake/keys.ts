/**
 * Keys of the lake, below its store's address, and the form of its small objects:
 *
 *     <table>/_delta_log/00000000000000000000.json                    the table's log
 *     <table>/instance=<name>/<table>-000042-<digest>.parquet         files of run 42, named by their content
 *     _published/instance=<name>/instance.json                        the service that the name belongs to
 *     _published/instance=<name>/instance-000042.json                 the one that it belongs to since removal 42
 *     _published/instance=<name>/000042.json                          a claim, or a removal
 *     _published/instance=<name>/runs/<run>-<digest>/manifest.json    the published run, named by its manifest's content
 *
 * Two machines may begin a run of one name in the same second. Names by content keep their files apart, and let whoever
 * repeats a delivery go on with what is there.
 */
import type { z } from "zod";
import { WarehouseError } from "../../common/errors.ts";
import { parseIfJson } from "../../common/json.ts";
import { parseRunName, runName } from "../../warehouse/layout.ts";
import type { Store } from "../store/store.ts";

const DIGEST_DIGITS = 16;

function padded(sequence: number): string {
  return String(sequence).padStart(6, "0");
}

/** Ends with a slash, as all folders here. */
export const INSTANCES = "_published/";

export function instanceFolder(instance: string): string {
  return `${INSTANCES}instance=${instance}/`;
}

/** An instance since it was removed last. */
export interface Since {
  readonly instance: string;
  /** Number of the removal; 0: there was none. */
  readonly since: number;
}

/** Another one after each removal: whoever goes on with an old one takes the name from nobody who has it since. */
export function registrationKey({ instance, since }: Since): string {
  return `${instanceFolder(instance)}instance${since === 0 ? "" : `-${padded(since)}`}.json`;
}

export function claimKey(instance: string, number: number): string {
  return `${instanceFolder(instance)}${padded(number)}.json`;
}

/** Of a claim's key; undefined for any other. */
export function claimNumberOf(key: string): number | undefined {
  const [, digits] = /^_published\/[^/]+\/(\d{6,15})\.json$/.exec(key) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

export function runsFolder(instance: string): string {
  return `${instanceFolder(instance)}runs/`;
}

/** `sha256`: of its manifest. `run`: by its name, with the number that it is delivered under. */
export function runFolder(instance: string, run: string, sha256: string): string {
  return `${runsFolder(instance)}${run}-${sha256.slice(0, DIGEST_DIGITS)}/`;
}

/** Whether the removal with a number takes away what a key of its instance's folder names. */
export function isBefore(key: string, removal: number): boolean {
  const run = /\/runs\/(\d+)-/.exec(key)?.[1];
  if (run !== undefined) return Number(run) <= removal;
  const [, since = "0"] = /\/instance-(\d+)\.json$/.exec(key) ?? [];
  return (claimNumberOf(key) ?? Number(since)) < removal;
}

/** The name of a run with another number, by which upkeep knows whether it may still be claimed. */
export function renumbered(run: string, sequence: number): string {
  const named = parseRunName(run);
  return named === undefined || named.sequence === sequence ? run : runName(sequence, named.startedAt);
}

/** Below the table's folder. `sequence`: that the run is delivered under. */
export function filePath(instance: string, table: string, sequence: number, sha256: string): string {
  return `instance=${instance}/${table}-${padded(sequence)}-${sha256.slice(0, DIGEST_DIGITS)}.parquet`;
}

const FILE = /^instance=([^/]+)\/[a-z0-9_]+-(\d{6,15})-[0-9a-f]{16}\.parquet$/;

/** What {@link filePath} says of a file; undefined: another program named it. */
export function uploadOf(path: string): { readonly instance: string; readonly sequence: number } | undefined {
  const [, instance, digits] = FILE.exec(path) ?? [];
  return instance === undefined ? undefined : { instance, sequence: Number(digits) };
}

/** The object of a key; null: there is none. Throws `target.refused` where it is of another form. */
export async function readJson<Form>(store: Store, key: string, form: z.ZodType<Form>): Promise<Form | null> {
  const bytes = await store.get(key);
  if (bytes === null) return null;
  const parsed = form.safeParse(parseIfJson(bytes.toString()));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw changedByHand(store, key, [...(issue?.path ?? []), issue?.message ?? "unexpected"].join(" "));
}

export function jsonBytes(content: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(content)}\n`);
}

export function changedByHand({ address }: Store, key: string, why: string): WarehouseError {
  return new WarehouseError(
    "target.refused",
    `${key} in ${address} cannot be read (${why}): it was changed by hand, or by a newer version; put it back, update content-warehouse, or deliver under another instance name.`,
  );
}
