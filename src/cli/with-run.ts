import { type OpenedRun, openRun } from "../audit/open-run.ts";
import type { OutputFolder } from "../warehouse/layout.ts";
import { existingFolder } from "./command.ts";
import { withTemporaryFolder } from "./temporary-folder.ts";

export interface Choice {
  readonly wanted: string;
  readonly beside?: string | undefined;
  /** Whether the runs may lack mapped values. */
  readonly anyPipeline?: boolean;
}

/** Opens a published run for a question, and closes it afterwards. */
export function withRun<T>(
  warehouse: string,
  wanted: string,
  use: (opened: OpenedRun) => Promise<T>,
): Promise<T> {
  return withRuns(warehouse, async () => ({ wanted }), use);
}

/** Like `withRun`, where it takes a look at the warehouse to say which run is meant. */
export async function withRuns<C extends Choice, T>(
  warehouse: string,
  choose: (folder: OutputFolder, temporaryDirectory: string) => Promise<C>,
  use: (opened: OpenedRun, chosen: C) => Promise<T>,
): Promise<T> {
  const folder = existingFolder(warehouse);
  return withTemporaryFolder("audit", async (temporaryDirectory) => {
    const chosen = await choose(folder, temporaryDirectory);
    await using opened = await openRun({ ...chosen, folder, temporaryDirectory });
    return await use(opened, chosen);
  });
}
