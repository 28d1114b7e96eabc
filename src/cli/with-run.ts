/** Opens the runs that a question is about, and closes them afterwards. */
import { type OpenedRun, openRun, type RunQuestion, type RunSelection } from "../audit/open-run.ts";
import type { Answer } from "../common/answer.ts";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import type { OutputFolder } from "../warehouse/layout.ts";
import { firstDamage } from "../warehouse/verify.ts";
import { openWarehouseFolder } from "./command.ts";
import { withTemporaryFolder } from "./temporary-folder.ts";

/** Runs `use` with the runs open that `choose` finds in the warehouse. */
export async function withRuns<C extends RunSelection, T>(
  warehouse: string,
  choose: (folder: OutputFolder, temporaryDirectory: string) => Promise<C>,
  use: (opened: OpenedRun, chosen: C) => Promise<T>,
): Promise<T> {
  const folder = openWarehouseFolder(warehouse, "answer.nothing");
  return withTemporaryFolder("audit", async (temporaryDirectory) => {
    const chosen = await choose(folder, temporaryDirectory);
    await using opened = await openRun({ ...chosen, folder, temporaryDirectory });
    return await use(opened, chosen).catch((thrown: unknown) => throwDamage(opened, thrown));
  });
}

/** Throws `verify.failed` if a file of the run is damaged, which DuckDB tells in many words, else what was thrown. */
async function throwDamage({ run, directory, manifest }: OpenedRun, thrown: unknown): Promise<never> {
  if (asWarehouseError(thrown).code !== "internal") throw thrown;
  const damage = await firstDamage(directory, manifest.files);
  if (damage === undefined) throw thrown;
  throw new WarehouseError(
    "verify.failed",
    `Run ${run} is damaged: ${damage}; make another run current with "content-warehouse runs rollback".`,
    { cause: thrown },
  );
}

/** Answers a question. `use` shows the answer while the runs are open, because rows may be read late. */
export function withAnswer<C extends RunSelection>(
  warehouse: string,
  { choose, answer }: RunQuestion<C>,
  use: (answer: Answer, opened: OpenedRun) => Promise<void>,
): Promise<void> {
  return withRuns(warehouse, choose, async (opened, chosen) => use(await answer(opened, chosen), opened));
}
