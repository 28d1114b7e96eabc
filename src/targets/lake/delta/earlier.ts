/** What a log still says of data files that its newest version has not: least and greatest values are in it, readable. */
import { inParallel } from "../../../storage/parallel.ts";
import type { Store } from "../../store/store.ts";
import type { Action } from "./actions.ts";
import { readCheckpoint } from "./checkpoint-file.ts";
import { listLog } from "./log-files.ts";
import { READERS, readCommit } from "./read.ts";
import type { TableState } from "./state.ts";
import { hasBounds } from "./statistics.ts";

/** Whether an earlier version's file of the log has bounds of a file of the instance that the state does not have. */
export async function hasEarlierBounds(store: Store, state: TableState, instance: string): Promise<boolean> {
  const { table, version, files } = state;
  const log = await listLog(store, table, 0);
  const tells = (actions: readonly Action[] | null) =>
    (actions ?? []).some(
      ({ add }) => add && add.partitionValues.instance === instance && !files.has(add.path) && hasBounds(add),
    );
  const commits = log.commits.filter((each) => each.version < version);
  const ofCommits = await inParallel(READERS, commits, async (_, each) =>
    tells(await readCommit(store, table, each.version)),
  );
  if (ofCommits.includes(true)) return true;
  for (const checkpoint of log.checkpoints.filter((each) => each.version < version))
    if (tells(await readCheckpoint(store, table, checkpoint))) return true;
  return false;
}
