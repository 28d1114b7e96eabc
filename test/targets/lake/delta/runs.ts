/** A table of a lake in memory, and commits to it: runs of instances, and what other programs write. */
import assert from "node:assert/strict";
import { putNext, type TableChange } from "../../../../src/targets/lake/delta/commit.ts";
import { readTable } from "../../../../src/targets/lake/delta/log.ts";
import type { DeltaTable } from "../../../../src/targets/lake/delta/metadata.ts";
import { activeFiles, type TableState } from "../../../../src/targets/lake/delta/state.ts";
import type { Store } from "../../../../src/targets/store/store.ts";
import { memoryStore, type Objects } from "../memory-store.ts";

export const DAY_MS = 24 * 60 * 60 * 1000;
export const NOW = Date.UTC(2026, 10, 20);

export interface LogStore extends Store {
  readonly objects: Objects;
  /** Milliseconds since 1970. */
  nowMs: number;
}

export function logStore(): LogStore {
  const objects: Objects = new Map();
  const made = { objects, nowMs: NOW };
  return Object.assign(
    made,
    memoryStore(objects, () => made.nowMs),
  );
}

export const CONTENT: DeltaTable = {
  name: "content",
  comment: "Items.",
  columns: [
    { name: "content_id", type: "text", nullable: false, comment: "Item." },
    { name: "word_count", type: "integer", nullable: true, comment: "Words." },
  ],
};

export function pathOf(instance: string, sequence: number): string {
  return `instance=${instance}/content-${String(sequence).padStart(6, "0")}-0011223344556677.parquet`;
}

/** The delivery of a number, with one file. */
export function runOf(instance: string, number: number): TableChange {
  const files = [{ path: pathOf(instance, number), bytes: 1000 + number, rows: 10 * number }];
  return { table: CONTENT, instance, number, run: `run-${number}`, files, retentionDays: 30 };
}

/** Commits and gives the version. */
export async function commit(store: Store, change: TableChange, nowMs = Date.now()): Promise<number> {
  const version = await putNext(store, await readTable(store, change.table.name), change, nowMs);
  assert.ok(typeof version === "number", String(version));
  return version;
}

export async function content(store: Store): Promise<TableState> {
  return (await readTable(store, "content")) ?? assert.fail();
}

export function pathsOf(state: TableState, instance: string): string[] {
  return activeFiles(state, instance).map(({ path }) => path);
}

export function logKey(version: number, suffix = ".json", table = "content"): string {
  return `${table}/_delta_log/${String(version).padStart(20, "0")}${suffix}`;
}

/** Puts a commit of another program. */
export async function putCommit(
  store: Store,
  version: number,
  actions: readonly object[],
  table?: string,
): Promise<void> {
  const text = actions.map((action) => JSON.stringify(action)).join("\n");
  assert.ok(await store.putNew(logKey(version, ".json", table), Buffer.from(text)));
}

/** Removes objects whose keys have this part. */
export function without(store: LogStore, part: string): void {
  for (const key of [...store.objects.keys()]) if (key.includes(part)) store.objects.delete(key);
}

/** What a state says of its table, in whatever order it was read. */
export function saying({ files, removed, transactions, ...state }: TableState): unknown {
  const values = (entries: ReadonlyMap<string, object>) =>
    [...entries].map((each) => JSON.stringify(each)).toSorted();
  return { ...state, files: values(files), removed: values(removed), runs: values(transactions) };
}
