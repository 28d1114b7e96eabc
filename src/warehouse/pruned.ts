/**
 * Remembers pruned runs that had been rolled back or replaced. A target may still have one, and only this warehouse
 * can tell it from a run of another machine.
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

/** Throws `verify.failed` if the file is damaged. */
export async function prunedRuns(folder: OutputFolder): Promise<readonly RunKey[]> {
  const text = await readFile(folder.pruned, "utf8").catch((thrown: unknown) => {
    if (codeOf(thrown) === "ENOENT") return "[]";
    throw outputError(thrown, folder);
  });
  const { data } = form.safeParse(parseIfJson(text));
  if (data !== undefined) return data;
  throw new WarehouseError(
    "verify.failed",
    `${folder.pruned} is damaged, so it is unknown which runs were rolled back; remove it, and check with "content-warehouse runs show --section targets" that no target has one of them.`,
  );
}

/**
 * Records runs that are about to be removed, except those of the history. Forgets runs that are older than every run
 * left. Needs the lock.
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
