/** Runs of instances for a table of a lake. */
import assert from "node:assert/strict";
import { putNext, type TableChange } from "../../../../src/targets/lake/delta/commit.ts";
import { readTable } from "../../../../src/targets/lake/delta/read.ts";
import type { DeltaTable } from "../../../../src/targets/lake/delta/schema.ts";
import { activeFiles, type TableState } from "../../../../src/targets/lake/delta/state.ts";
import type { Store } from "../../../../src/targets/store/store.ts";

type DeclaredColumn = DeltaTable["columns"][number];

export function column(name: string, type: DeclaredColumn["type"] = "text", nullable = true): DeclaredColumn {
  return { name, type, nullable, comment: `Column ${name}.` };
}

export const CONTENT: DeltaTable = {
  name: "content",
  comment: "Items.",
  columns: [column("content_id", "text", false), column("word_count", "integer")],
};

export function pathOf(instance: string, sequence: number): string {
  return `instance=${instance}/content-${String(sequence).padStart(6, "0")}-0011223344556677.parquet`;
}

/** The delivery of a number, with one file. */
export function runOf(instance: string, number: number, given: Partial<TableChange> = {}): TableChange {
  return {
    table: CONTENT,
    instance,
    number,
    run: `run-${number}`,
    files: [
      {
        path: pathOf(instance, number),
        bytes: 1000 + number,
        rows: 10 * number,
        bounds: { column: "content_id", min: "a", max: `z${number}` },
      },
    ],
    retentionDays: 30,
    ...given,
  };
}

/** Commits and gives the version. */
export async function commit(store: Store, change: TableChange, nowMs = Date.now()): Promise<number> {
  const put = await putNext(store, await readTable(store, change.table.name), change, nowMs);
  assert.ok(typeof put === "object", String(put));
  return put.version;
}

export async function content(store: Store): Promise<TableState> {
  const state = await readTable(store, "content");
  assert.ok(state !== null);
  return state;
}

export function pathsOf(state: TableState, instance: string): string[] {
  return activeFiles(state, instance).map(({ path }) => path);
}

/** Puts a commit of another program. */
export async function putCommit(store: Store, version: number, actions: readonly object[]): Promise<void> {
  const key = `content/_delta_log/${String(version).padStart(20, "0")}.json`;
  const text = actions.map((action) => JSON.stringify(action)).join("\n");
  assert.ok(await store.putNew(key, Buffer.from(text)));
}
