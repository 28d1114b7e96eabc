/** Opens the runs that a question is about. */
import { type OpenedRun, openRun, type RunQuestion, type RunSelection } from "../audit/open-run.ts";
import type { Answer } from "../common/answer.ts";
import type { OutputFolder } from "../warehouse/layout.ts";
import { openWarehouseFolder } from "./command.ts";
import { withTemporaryFolder } from "./temporary-folder.ts";

/** Opens a published run for a question, and closes it afterwards. */
export function withRun<T>(
  warehouse: string,
  wanted: string,
  use: (opened: OpenedRun) => Promise<T>,
): Promise<T> {
  return withRuns(warehouse, async () => ({ wanted }), use);
}

/** Like `withRun`, where it takes a look at the warehouse to say which run is meant. */
export async function withRuns<C extends RunSelection, T>(
  warehouse: string,
  choose: (folder: OutputFolder, temporaryDirectory: string) => Promise<C>,
  use: (opened: OpenedRun, chosen: C) => Promise<T>,
): Promise<T> {
  const folder = openWarehouseFolder(warehouse);
  return withTemporaryFolder("audit", async (temporaryDirectory) => {
    const chosen = await choose(folder, temporaryDirectory);
    await using opened = await openRun({ ...chosen, folder, temporaryDirectory });
    return await use(opened, chosen);
  });
}

/** Has a question answered; its answer is drawn while its runs are open. */
export function withAnswer<C extends RunSelection>(
  warehouse: string,
  { choose, answer }: RunQuestion<C>,
  use: (answer: Answer) => Promise<void>,
): Promise<void> {
  return withRuns(warehouse, choose, async (opened, chosen) => use(await answer(opened, chosen)));
}
