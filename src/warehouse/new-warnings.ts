/** Which warnings the night before had too: whoever reads what every night says reads each of them once. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import type { Log } from "../common/log.ts";
import { clauseOf } from "../common/printable.ts";
import { readSealed, writeSealed } from "../common/sealed-file.ts";
import type { OutputFolder } from "./layout.ts";

/** SHA-256 of the sentences: they may name a person who is erased later. */
const form = z.array(z.string());

const FILES = { run: ".warnings.json", observers: ".observer-warnings.json" } as const;

interface NightsWarnings {
  /** Whose they are: each has a file of its own. */
  readonly of: "run" | "observers";
  readonly warnings: readonly string[];
  /** Those of checks that the run before warned of too, whatever their figures. */
  readonly ongoing: readonly string[];
}

/**
 * Gives the warnings that the night before had not, and keeps what this one has for the next. Where that cannot be kept,
 * a person reads them once more.
 */
export async function newWarnings(
  folder: OutputFolder,
  { of, warnings, ongoing }: NightsWarnings,
  log: Log,
): Promise<string[]> {
  const file = join(folder.root, FILES[of]);
  const digests = new Map(warnings.map((warning) => [warning, hash("sha256", warning)]));
  try {
    const before = new Set(await readSealed(file, form));
    await writeSealed(file, [...digests.values()]);
    return warnings.filter((each) => !ongoing.includes(each) && !before.has(digests.get(each) ?? ""));
  } catch (thrown) {
    log.warn(`Which warnings are new is not known: ${clauseOf(thrown)}.`);
    return [...warnings];
  }
}
