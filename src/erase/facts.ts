/** `raw/extract.json` of a run that is made anew: without what shows a person, and with the runs by their new names. */
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import {
  EXTRACT_FILE,
  type ExtractRecord,
  readExtractRecord,
  writeExtractRecord,
} from "../raw/extract-record.ts";
import type { NewNames } from "../warehouse/replacement/numbers.ts";
import type { Person } from "./person.ts";

/** Below a run's folder. */
export const FACTS = join("raw", EXTRACT_FILE);

/** How many examples of the drift show the person. That of an older program has none. */
export async function examplesIn(directory: string, person: Person): Promise<number> {
  const facts = await readExtractRecord(join(directory, FACTS));
  return facts === undefined ? 0 : shownIn(facts, person).length;
}

/** Writes the facts of the run in a folder into another. */
export async function rewriteFacts(
  from: string,
  to: string,
  { person, renamed }: { readonly person: Person; readonly renamed: NewNames },
): Promise<void> {
  const facts = await readExtractRecord(join(from, FACTS));
  if (facts === undefined) {
    await copyFile(join(from, FACTS), join(to, FACTS));
    return;
  }
  const shown = new Set(shownIn(facts, person));
  const { version: _version, drift, before, history, ...others } = facts;
  const isRenamed = before.kind === "run" && renamed.has(before.run);
  await writeExtractRecord(join(to, FACTS), {
    ...others,
    drift: drift.map((entry) => (shown.has(entry.example ?? "") ? { ...entry, example: null } : entry)),
    // The manifest of a run that is made anew is another.
    before: namedAnew(isRenamed ? { ...before, sha256: null } : before, renamed),
    history: namedAnew(history, renamed),
  });
}

function shownIn({ drift }: ExtractRecord, person: Person): string[] {
  return drift.flatMap(({ example, path }) =>
    example !== null && person.isShownBy(example, path) ? example : [],
  );
}

function namedAnew<Told extends ExtractRecord["before"] | ExtractRecord["history"]>(
  told: Told,
  renamed: NewNames,
): Told {
  const run = "run" in told && { run: renamedIn(told.run, renamed) };
  const reason = "reason" in told && { reason: renamedIn(told.reason, renamed) };
  return { ...told, ...run, ...reason };
}

/** A text with the new names of runs in place of the old ones. */
function renamedIn(text: string, renamed: NewNames): string {
  return [...renamed].reduce((result, [from, to]) => result.replaceAll(from, to), text);
}
