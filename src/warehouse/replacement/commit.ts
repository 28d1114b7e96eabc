/**
 * How runs are replaced by others, all together. The replacements are staged first; once they are proven and on the
 * disk, a plan that names them is written, and from then on whoever has the lock carries it out: what was killed before
 * has changed nothing, and what was killed after is finished by the next command that changes the warehouse.
 */
import { existsSync } from "node:fs";
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { removeTree, replaceFile, sealTree, sync, syncTree } from "../../common/tree.ts";
import { currentRun, type OutputFolder, type StagingFolder, stagingFolder } from "../layout.ts";
import { runIdentifier } from "../manifest.ts";
import { pointCurrentAt, removeRun } from "../run-folders.ts";

const replacement = z.object({ from: runIdentifier, to: runIdentifier });
const plan = z.object({ replacements: z.array(replacement) });

/** A run, and the one that takes its place. */
export type Replacement = Readonly<z.infer<typeof replacement>>;

/** Where replacements are staged: apart from the runs of exports, which may be gone on with. */
export function replacementPlace(folder: OutputFolder): string {
  return join(folder.staging, ".replace");
}

export function stagedReplacement(folder: OutputFolder, to: string): StagingFolder {
  return stagingFolder(folder, to, replacementPlace(folder));
}

const PLAN_FILE = "plan.json";

/** Brings the staged runs to the disk, and then the plan: the point from which they are finished, not forgotten. */
export async function commitPlan(folder: OutputFolder, replacements: readonly Replacement[]): Promise<void> {
  const place = replacementPlace(folder);
  for (const { to } of replacements) await syncTree(join(place, to));
  const unnamed = join(place, `${PLAN_FILE}.new`);
  await replaceFile(join(place, PLAN_FILE), JSON.stringify({ replacements }), { unnamed, mode: 0o600 });
  await sync(folder.staging);
}

/**
 * Carries out a plan, if there is one, and clears the place of the replacements away. All replacements get their final names;
 * then `current` moves, where it names a run that is replaced; then the replaced runs go. Each step may have been done
 * before. Needs the lock.
 */
export async function finishReplacement(folder: OutputFolder): Promise<void> {
  const place = replacementPlace(folder);
  if (!existsSync(place)) return;
  const file = join(place, PLAN_FILE);
  if (existsSync(file)) {
    await carryOut(folder, plan.parse(JSON.parse(await readFile(file, "utf8"))).replacements);
  }
  await removeTree(place);
}

async function carryOut(folder: OutputFolder, replacements: readonly Replacement[]): Promise<void> {
  for (const { to } of replacements) {
    const { result } = stagedReplacement(folder, to);
    if (existsSync(result)) await rename(result, join(folder.runs, to));
  }
  await sync(folder.runs);
  for (const { to } of replacements) await sealTree(join(folder.runs, to));
  const nowOf = (run: string) => replacements.find(({ from }) => from === run)?.to ?? run;
  const current = await currentRun(folder);
  if (current !== undefined) await pointCurrentAt(folder, nowOf(current));
  // The plan is the only word of what must go: it stays until nothing of a replaced run lies anywhere.
  for (const { from } of replacements) await removeRun(folder, from);
}
