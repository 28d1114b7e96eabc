/** Erases one person's details from all retained runs. */

import type { Clock } from "../common/clock.ts";
import { WarehouseError } from "../common/errors.ts";
import { removeTree } from "../common/tree.ts";
import type { FreeBytes } from "../warehouse/disk.ts";
import { nameOf, type OutputFolder, type StagingFolder } from "../warehouse/layout.ts";
import { type Statement, writeManifest } from "../warehouse/manifest.ts";
import {
  type NewNames,
  type Numbered,
  numberAnew,
  type Replaceable,
} from "../warehouse/replacement/numbers.ts";
import {
  clearStaging,
  type OnReplaceStep,
  replaceable,
  replaceRuns,
  replacing,
} from "../warehouse/replacement/replace.ts";
import { verifyResult } from "../warehouse/verify.ts";
import { verifyRuns } from "../warehouse/verify-run.ts";
import { type Identity, Person } from "./person.ts";
import { rewriteRun } from "./rewrite.ts";
import { identify, isOfDocuments, type RunErasure, searchRun } from "./search.ts";

export interface EraseOptions {
  readonly userId: string;
  readonly clock: Clock;
  readonly threads: number;
  readonly freeBytes: FreeBytes;
  /** Called as each run is searched, proven and made anew, and when all are replaced. */
  readonly onStep: OnReplaceStep;
}

/** What became of a run. */
export interface ErasedRun {
  readonly run: string;
  readonly replacedBy: string;
  /** Whether readers see the run that took its place. */
  readonly current: boolean;
  /** Rows of tables that changed. */
  readonly rows: number;
  /** Raw documents that changed. */
  readonly documents: number;
}

export interface EraseReport {
  /** Runs that were searched. */
  readonly searched: number;
  /** Those of them that know the user's ID, whatever else they know of the user. */
  readonly named: number;
  /** Runs that were replaced, the oldest first. */
  readonly replaced: readonly ErasedRun[];
}

/** A run that is to be made anew. */
interface Planned extends Numbered {
  readonly erasure: RunErasure;
}

type Found = Pick<Planned, "from" | "erasure">;

/**
 * Erases what the retained runs hold of a user; the user ID stays. Each run that holds something, and each that is newer
 * than one that does, is replaced by a run of its own, so that the order of the runs stays that of their numbers: its
 * name has a number above all others and the instant of the old name. Nothing published is changed in place; the old
 * runs go once the new ones are proven, on the disk, and have their names, and `current` names the new one. Staged files
 * of runs that were killed go too. Needs the lock.
 *
 * Throws `config.not_found` for an ID that is another thing's, `verify.failed` for a run that is damaged, `config.newer_version` for one of a newer program, `disk.io` where
 * there is no room; then every run is as it was.
 */
export async function eraseUser(folder: OutputFolder, options: EraseOptions): Promise<EraseReport> {
  return replacing(folder, async ({ runs: kept, temporary }) => {
    // What was staged may hold the person.
    await clearStaging(folder);
    const runs = kept.map(replaceable);
    for (const { run } of runs) {
      options.onStep({ kind: "prove", run });
      await assertWhole(folder, run, temporary);
    }
    const identities: Identity[] = [];
    for (const run of runs) identities.push(await identify(run, options.userId, temporary));
    const person = new Person(options.userId, whoseIdIs(options.userId, identities));
    const erasures = await searchAll(runs, person, temporary, options);
    const planned = await plan(folder, erasures, temporary);
    if (planned.length > 0) await replace(folder, planned, person, options);
    const named = identities.filter(({ user }) => user).length;
    return { searched: runs.length, named, replaced: planned.map(reported) };
  });
}

/** What a row of a table is, where one column is its key. */
const ROW_OF: Readonly<Record<string, string>> = {
  content: "an item",
  content_types: "a content type",
  campaigns: "a campaign",
  instances: "an instance of the service",
  custom_fields: "a custom field",
  custom_field_files: "a file",
  custom_field_mappings: "a mapping",
  custom_field_mapping_values: "a mapping entry",
  destinations: "a destination",
};

/** Throws `config.not_found` for the ID of another thing: whatever has that ID would lose what it says. */
function whoseIdIs(id: string, identities: readonly Identity[]): Identity {
  const user = identities.some((each) => each.user);
  const otherTable = identities.find((each) => each.otherTable !== undefined)?.otherTable;
  if (user || otherTable === undefined) return { user, otherTable };
  throw new WarehouseError(
    "config.not_found",
    `"${id}" is the ID of ${ROW_OF[otherTable] ?? "something else"} (table ${otherTable}), not of a user, so nothing was erased; give a user_id of the table users.`,
  );
}

/** Twice, because a run may say of the person what is needed to find them in another. */
async function searchAll(
  runs: readonly Replaceable[],
  person: Person,
  temporary: string,
  { onStep }: EraseOptions,
): Promise<readonly Found[]> {
  const found = new Map<Replaceable, RunErasure>();
  for (const _pass of ["learn", "find"]) {
    for (const from of runs) {
      onStep({ kind: "search", run: from.run });
      found.set(from, await searchRun(from, person, temporary));
    }
  }
  return Array.from(found, ([from, erasure]) => ({ from, erasure }));
}

const isEmpty = ({ tables, raw }: RunErasure): boolean => tables.size === 0 && raw.size === 0;

/** From the oldest run that holds something on: later numbers are those of later runs. */
async function plan(
  folder: OutputFolder,
  erasures: readonly Found[],
  temporary: string,
): Promise<readonly Planned[]> {
  const oldest = erasures.findIndex(({ erasure }) => !isEmpty(erasure));
  if (oldest < 0) return [];
  const changed = erasures.slice(oldest);
  const runs = erasures.map(({ from }) => from);
  const numbered = await numberAnew(folder, { replaced: changed.map(({ from }) => from), runs }, temporary);
  return changed.flatMap(({ erasure }, place) => {
    const run = numbered[place];
    return run === undefined ? [] : { ...run, erasure };
  });
}

async function replace(
  folder: OutputFolder,
  planned: readonly Planned[],
  person: Person,
  options: EraseOptions,
): Promise<void> {
  const { freeBytes, clock, onStep } = options;
  const erasedAt = new Date(clock.now()).toISOString();
  await replaceRuns(folder, planned, {
    make: (run, staging) => make(run, staging, { ...options, person, erasedAt }),
    freeBytes,
    noRoom: (room) =>
      `the runs that hold this user take ${room}; nothing was erased: free space or remove old runs with "runs prune", and erase again`,
    onStep,
  });
}

/** A damaged run is not made anew: its copy would stand the proof that it does not. */
async function assertWhole(folder: OutputFolder, run: string, temporary: string): Promise<void> {
  const { runs } = await verifyRuns(folder, { run }, temporary);
  const finding = runs.flatMap(({ findings }) => findings)[0];
  if (finding === undefined) return;
  throw new WarehouseError(
    "verify.failed",
    `The run ${run} is damaged (${finding.replace(/\.$/, "")}), so nothing was erased; ` +
      'make a whole run current, remove this one with "runs prune", and erase again.',
  );
}

interface Making extends Pick<EraseOptions, "threads"> {
  readonly person: Person;
  readonly erasedAt: string;
}

/** A replacement, proven: as many rows as before in every table, and nothing of the person. */
async function make(
  { from, to, erasure, renamed }: Planned,
  staging: StagingFolder,
  { threads, erasedAt, person }: Making,
): Promise<void> {
  await rewriteRun({ from, to: staging, erasure, person, renamed, threads });
  const { manifestVersion: _version, files: _files, ...stated } = from.manifest;
  const files = await verifyResult({
    result: staging.result,
    temporaryDirectory: staging.temporary,
    stated,
  });
  const made = { directory: staging.result, manifest: { ...from.manifest, files: [...files] } };
  const left = await searchRun(made, person, staging.temporary);
  if (!isEmpty(left)) {
    const where = [...left.tables.keys(), ...left.raw.keys()].join(", ");
    throw new WarehouseError("verify.failed", `The user is still found in ${where}; nothing was erased.`);
  }
  await removeTree(staging.temporary);
  await writeManifest(
    staging.result,
    {
      ...stated,
      run: to,
      sequence: staging.sequence,
      ...previousOf(stated, renamed),
      supersedes: stated.run,
      // It is a run of its own, and its DuckDB file is not that of a restore.
      restored: undefined,
      erasedAt: [...(stated.erasedAt ?? []), erasedAt],
    },
    files,
  );
}

/** The manifest of a run that is made anew is another. */
function previousOf({ previousRun, previousSha256 }: Statement, renamed: NewNames) {
  const now = renamed.get(nameOf(previousRun ?? ""));
  return now === undefined
    ? { previousRun, previousSha256 }
    : { previousRun: now, previousSha256: undefined };
}

function reported({ from, to, erasure }: Planned): ErasedRun {
  const sum = (rows: ReadonlyMap<string, number>) => [...rows.values()].reduce((all, each) => all + each, 0);
  const documents = new Map([...erasure.raw].filter(([path]) => isOfDocuments(path)));
  return {
    run: from.run,
    replacedBy: to,
    current: from.current,
    rows: sum(erasure.tables),
    documents: sum(documents),
  };
}
