/** Warehouses of small runs, which tests may change. */
import { cp } from "node:fs/promises";
import { after, type TestContext } from "node:test";
import * as folders from "../folders.ts";
import { temporaryFolder } from "../load/fixtures.ts";
import { publish } from "../warehouse/published.ts";

/** Publishes a run for each number of items, once; gives what copies the warehouse for a test. Call it outside of hooks. */
export async function warehousesOf(
  ...items: readonly number[]
): Promise<(t: TestContext) => Promise<string>> {
  const base = await folders.temporaryFolder({ after });
  for (const each of items) await publish(base, each);
  return async (t) => {
    const out = await temporaryFolder(t);
    await cp(base, out, { recursive: true, verbatimSymlinks: true });
    return out;
  };
}
