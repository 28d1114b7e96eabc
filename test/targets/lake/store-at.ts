import assert from "node:assert/strict";
import { readTable } from "../../../src/targets/lake/delta/log.ts";
import type { TableState } from "../../../src/targets/lake/delta/state.ts";
import type { Store } from "../../../src/targets/store/store.ts";

/** The store as it was when a table's log ended with a version. */
export function storeAt(store: Store, table: string, version: number): Store {
  const isThere = (key: string) => {
    const [, found] = /\/_delta_log\/(\d{20})/.exec(key) ?? [];
    if (!key.startsWith(`${table}/`)) return true;
    return found === undefined ? !key.endsWith("_last_checkpoint") : Number(found) <= version;
  };
  return {
    ...store,
    get: async (key) => (isThere(key) ? store.get(key) : null),
    list: async function* (prefix, options) {
      for await (const found of store.list(prefix, options)) if (isThere(found.key)) yield found;
    },
  };
}

/** A table as a version had it. */
export async function stateAt(store: Store, table: string, version: number): Promise<TableState> {
  const state = await readTable(storeAt(store, table, version), table);
  assert.ok(state?.version === version, `version ${version} of ${table} is gone`);
  return state;
}
