/**
 * Runs that were pruned and are in no history: a person rolled them back, or had them put aside. A target may show one for
 * as long as nothing is delivered, and only its own warehouse can tell that from a run that was made elsewhere.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { codeOf, WarehouseError } from "../common/errors.ts";
import { parseIfJson } from "../common/json.ts";
import { replaceFile } from "../common/tree.ts";
import { isAmong, laterRun, type RunKey } from "./identity.ts";
import { type OutputFolder, outputError } from "./layout.ts";
import { runIdentifier } from "./manifest.ts";

const form = z.array(
  z.object({ run: runIdentifier, sequence: z.number().int().positive(), sha256: z.string().optional() }),
);

/** Throws `verify.failed` where nobody can tell. */
export async function prunedRuns(folder: OutputFolder): Promise<readonly RunKey[]> {
  const text = await readFile(folder.pruned, "utf8").catch((thrown: unknown) => {
    if (codeOf(thrown) === "ENOENT") return "[]";
    throw outputError(thrown, folder);
  });
  const { data } = form.safeParse(parseIfJson(text));
  if (data !== undefined) return data;
  throw new WarehouseError(
    "verify.failed",
    `${folder.pruned} is not as it was written, so nobody can tell which runs were rolled back here; remove it, and see with "content-warehouse runs show --section targets" that no target has one of them.`,
  );
}

/**
 * Notes runs that are about to be removed, but those of the history. What is older than all that is left, and than what
 * that goes on from, need not be known any more: each run may take its place. Needs the lock.
 */
export async function recordPruned(
  folder: OutputFolder,
  old: readonly RunKey[],
  { left, past }: { readonly left: readonly RunKey[]; readonly past: readonly RunKey[] },
): Promise<void> {
  const before = await prunedRuns(folder);
  const aside = [...before, ...old.filter((run) => !isAmong(run, [...past, ...before]))];
  const noted = aside.filter((run) => [...left, ...past].some((each) => !laterRun(each, run)));
  if (noted.length === before.length && noted.every((run) => before.includes(run))) return;
  const keys = noted.map(({ run, sequence, sha256 }) => ({ run, sequence, sha256 }));
  const unnamed = join(folder.root, ".pruned-runs");
  await replaceFile(folder.pruned, `${JSON.stringify(keys)}\n`, { unnamed, mode: 0o644 });
}
