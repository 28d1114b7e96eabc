import { type OpenedRun, openRun } from "../audit/open-run.ts";
import type { OutputFolder } from "../warehouse/layout.ts";
import { existingFolder } from "./commands/runs.ts";
import { withTemporaryFolder } from "./temporary-folder.ts";

/** Opens a published run for a question, and closes it afterwards. */
export async function withRun<T>(
  out: string,
  wanted: string,
  use: (opened: OpenedRun, temporaryDirectory: string) => Promise<T>,
): Promise<T> {
  const choose = async (_folder: OutputFolder, temporaryDirectory: string) => ({
    wanted,
    temporaryDirectory,
  });
  return withRuns(out, choose, (opened, { temporaryDirectory }) => use(opened, temporaryDirectory));
}

/** What is opened: a run, and another beside it. */
export interface Choice {
  readonly wanted: string;
  readonly beside?: string;
}

/** Like `withRun`, where it takes a look at the warehouse to say which run is meant. */
export async function withRuns<C extends Choice, T>(
  out: string,
  choose: (folder: OutputFolder, temporaryDirectory: string) => Promise<C>,
  use: (opened: OpenedRun, chosen: C) => Promise<T>,
): Promise<T> {
  const folder = existingFolder(out);
  return withTemporaryFolder("audit", async (temporaryDirectory) => {
    const chosen = await choose(folder, temporaryDirectory);
    const { wanted, beside } = chosen;
    await using opened = await openRun({
      folder,
      wanted,
      temporaryDirectory,
      ...(beside === undefined ? {} : { beside }),
    });
    return await use(opened, chosen);
  });
}
