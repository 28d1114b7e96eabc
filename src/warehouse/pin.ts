/** Keeping `current` at a run while later ones are published: what is pinned, since when, and what runs go on from. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { codeOf, WarehouseError } from "../common/errors.ts";
import { minuteOf } from "../common/figures.ts";
import { parseIfJson } from "../common/json.ts";
import { replaceFile, sync } from "../common/tree.ts";
import { currentRun, type OutputFolder, outputError } from "./layout.ts";
import { runIdentifier } from "./manifest.ts";
import { pointCurrentAt } from "./run-folders.ts";

const form = z.object({ run: runIdentifier, latest: runIdentifier, since: z.iso.datetime() });

/** Folders of runs. Once it is written it is decided: whoever has the lock next moves `current` there. */
export interface Pin {
  readonly run: string;
  /** The run that the next one goes on from: the last that was published since, or the pinned one. */
  readonly latest: string;
  readonly since: Date;
}

/** Undefined: nothing is pinned. Throws `verify.failed` where nobody can tell. */
export async function readPin(folder: OutputFolder): Promise<Pin | undefined> {
  const text = await readFile(folder.pin, "utf8").catch((thrown: unknown) => {
    if (codeOf(thrown) === "ENOENT") return undefined;
    throw outputError(thrown, folder);
  });
  if (text === undefined) return undefined;
  const { data } = form.safeParse(parseIfJson(text));
  if (data !== undefined) return { ...data, since: new Date(data.since) };
  throw new WarehouseError(
    "verify.failed",
    `${folder.pin} is not as it was written, so nobody can tell which run is pinned; remove it, and pin one with "content-warehouse runs rollback RUN --pin".`,
  );
}

/** For readers, who have no lock: undefined too where `current` is still to be moved to the pinned run. */
export async function pinInEffect(folder: OutputFolder): Promise<Pin | undefined> {
  const pin = await readPin(folder);
  return pin?.run === (await currentRun(folder)) ? pin : undefined;
}

/** The run that the next one goes on from; undefined: nothing was published yet. */
export async function latestRun(folder: OutputFolder): Promise<string | undefined> {
  return (await readPin(folder))?.latest ?? (await currentRun(folder));
}

/** In one step and for good. Needs the lock, as all below. */
export async function writePin(folder: OutputFolder, { run, latest, since }: Pin): Promise<void> {
  const text = `${JSON.stringify({ run, latest, since: since.toISOString() })}\n`;
  await replaceFile(folder.pin, text, { unnamed: join(folder.root, ".current-pin"), mode: 0o644 });
}

export async function removePin(folder: OutputFolder): Promise<void> {
  await rm(folder.pin, { force: true });
  await sync(folder.root);
}

/** Has the next run go on from a published one, which becomes current unless another is pinned. */
export async function makeLatest(folder: OutputFolder, run: string): Promise<void> {
  const pin = await readPin(folder);
  if (pin === undefined) await pointCurrentAt(folder, run);
  else await writePin(folder, { ...pin, latest: run });
}

/** What is pinned, as runs are listed; undefined: nothing is. */
export function pinnedOf<Run extends { readonly pinnedSince: Date | null }>(
  runs: readonly Run[],
): (Run & { readonly pinnedSince: Date }) | undefined {
  return runs.find((run): run is Run & { readonly pinnedSince: Date } => run.pinnedSince !== null);
}

/** `current stays at 000040-20261120T020000Z (pinned since 2026-11-21 08:30 UTC)`. */
export function pinnedText({
  run,
  pinnedSince,
}: {
  readonly run: string;
  readonly pinnedSince: Date;
}): string {
  return `current stays at ${run} (pinned since ${minuteOf(pinnedSince)} UTC)`;
}
