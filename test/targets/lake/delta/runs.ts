/** Runs of instances for a table of a lake. */
import assert from "node:assert/strict";
import { commitReplacement, type Replacement } from "../../../../src/targets/lake/delta/commit.ts";
import { readTable } from "../../../../src/targets/lake/delta/read.ts";
import type { DeclaredTable } from "../../../../src/targets/lake/delta/schema.ts";
import { filesOf, type TableState } from "../../../../src/targets/lake/delta/state.ts";
import type { Store } from "../../../../src/targets/store/store.ts";
import { NEVER } from "../../../never.ts";

type DeclaredColumn = DeclaredTable["columns"][number];

export function column(name: string, type: DeclaredColumn["type"] = "text", nullable = true): DeclaredColumn {
  return { name, type, nullable, comment: `Column ${name}.` };
}

export const CONTENT: DeclaredTable = {
  name: "content",
  comment: "Items.",
  columns: [column("content_id", "text", false), column("word_count", "integer")],
};

export function pathOf(instance: string, sequence: number): string {
  return `instance=${instance}/content-${String(sequence).padStart(6, "0")}-0011223344556677.parquet`;
}

/** The run of a number, with one file. */
export function runOf(instance: string, sequence: number, given: Partial<Replacement> = {}): Replacement {
  return {
    table: CONTENT,
    instance,
    sequence,
    run: `run-${sequence}`,
    files: [
      {
        path: pathOf(instance, sequence),
        bytes: 1000 + sequence,
        rows: 10 * sequence,
        statistics: [{ column: "content_id", min: "a", max: `z${sequence}`, nulls: 0 }],
      },
    ],
    attempt: `attempt-${sequence}`,
    atMs: Date.UTC(2026, 10, 20),
    retentionDays: 30,
    ...given,
  };
}

/** Commits and gives the version. */
export async function commit(store: Store, replacement: Replacement): Promise<number> {
  const version = await commitReplacement(store, replacement, NEVER);
  assert.ok(version !== null);
  return version;
}

export async function content(store: Store): Promise<TableState> {
  const state = await readTable(store, "content");
  assert.ok(state !== null);
  return state;
}

export function pathsOf(state: TableState, instance: string): string[] {
  return filesOf(state, instance).map(({ path }) => path);
}

/** Puts a commit of another program. */
export async function putCommit(store: Store, version: number, actions: readonly object[]): Promise<void> {
  const key = `content/_delta_log/${String(version).padStart(20, "0")}.json`;
  const text = actions.map((action) => JSON.stringify(action)).join("\n");
  assert.ok(await store.putNew(key, Buffer.from(text)));
}
