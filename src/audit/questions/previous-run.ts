/** The run that another was compared with when it was made, where its files are still there. */
import { WarehouseError } from "../../common/errors.ts";
import type { OutputFolder } from "../../warehouse/layout.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { findRun, listRuns } from "../../warehouse/retention.ts";

export interface PreviousRun {
  /** Undefined: there is none, or it cannot be read. */
  readonly manifest: Manifest | undefined;
  /** Why there is nothing to compare with, as a sentence; null: there is. */
  readonly missing: string | null;
}

/** Throws `config.not_found` for a run that does not exist, `verify.failed` for one that cannot be read. */
export async function findPreviousRun(folder: OutputFolder, wanted: string): Promise<PreviousRun> {
  const { run, manifest } = await findRun(folder, wanted);
  if (manifest instanceof WarehouseError) throw manifest;
  const { previousRun } = manifest;
  if (previousRun === null) {
    return none(`${run} is the first run of this warehouse, so there is nothing to compare it with.`);
  }
  const manifests = (await listRuns(folder)).map((each) => each.manifest);
  const found = manifests.find(
    (each) =>
      !(each instanceof WarehouseError) && (each.run === previousRun || each.supersedes === previousRun),
  );
  if (found === undefined || found instanceof WarehouseError) {
    return none(
      `The run before it, ${previousRun}, was removed or cannot be read, so there is nothing to compare with; \`keepRuns\` says how many runs stay.`,
    );
  }
  return { manifest: found, missing: null };
}

function none(missing: string): PreviousRun {
  return { manifest: undefined, missing };
}
