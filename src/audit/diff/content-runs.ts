/** The two runs whose content is compared: both are kept, and of one instance. */
import { WarehouseError } from "../../common/errors.ts";
import { previousOf, sameInstance } from "../../warehouse/identity.ts";
import type { OutputFolder } from "../../warehouse/layout.ts";
import { listRuns } from "../../warehouse/retention.ts";
import { type Choice, findReadable, type ReadableRun } from "../open-run.ts";
import { findPair, type RunPair } from "./diff-runs.ts";

export interface ChosenRuns extends Choice {
  readonly pair: RunPair;
  readonly before: ReadableRun;
}

/**
 * By name or number, `current` or `previous`. Throws `config.not_found` for one that is not there or not kept, and
 * `config.invalid` where the first is the later one, or they are of two instances.
 */
export async function chooseRuns(
  folder: OutputFolder,
  wanted: readonly [before: string, after: string],
  temporaryDirectory: string,
): Promise<ChosenRuns> {
  const names = [await namedRun(folder, wanted[0]), await namedRun(folder, wanted[1])] as const;
  const pair = await findPair(folder, names, temporaryDirectory);
  const [before, after] = [
    await findReadable(folder, pair.before.run),
    await findReadable(folder, pair.after.run),
  ];
  assertOneInstance(before, after);
  return { pair, before, wanted: after.run, beside: before.run, anyPipeline: true, limits: LIMITS };
}

/** Texts of a range, both sides, are beside the buffers: with two threads it would be twice as many. */
const LIMITS = { memoryLimitMb: 128, threads: 1 };

/** The run before the current one also where no history names it. */
async function namedRun(folder: OutputFolder, wanted: string): Promise<string> {
  if (wanted !== "previous") return wanted;
  const { manifest } = await findReadable(folder, "current");
  return previousOf(manifest, await listRuns(folder))?.run ?? manifest.previousRun ?? wanted;
}

function assertOneInstance(before: ReadableRun, after: ReadableRun): void {
  const [one, other] = [before.manifest.instance, after.manifest.instance];
  if (sameInstance(one, other)) return;
  const named = (run: ReadableRun) =>
    `${run.run} of ${run.manifest.instance.id ?? run.manifest.instance.origin}`;
  throw new WarehouseError(
    "config.invalid",
    `The runs are of two instances, ${named(before)} and ${named(after)}, whose content has nothing in common; name two runs of one.`,
  );
}
