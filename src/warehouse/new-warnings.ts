/** Tells which warnings are new: the run before did not warn of their cause. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import type { Log } from "../common/log.ts";
import { clauseOf } from "../common/printable.ts";
import { readSealed, writeSealed } from "../common/sealed-file.ts";
import type { OutputFolder } from "./layout.ts";

/** SHA-256 of each cause, because a cause may name what is erased later. */
const form = z.array(z.string());

/**
 * Returns the causes that are new, and stores these causes for the next run. A cause is the name of a check, or a
 * sentence. If they cannot be stored, all are new.
 */
export async function newWarningCauses(
  folder: OutputFolder,
  causes: readonly string[],
  log: Log,
): Promise<ReadonlySet<string>> {
  const file = join(folder.root, ".warnings.json");
  const digestOf = (cause: string) => hash("sha256", cause);
  try {
    const before = new Set(await readSealed(file, form));
    await writeSealed(file, causes.map(digestOf));
    return new Set(causes.filter((cause) => !before.has(digestOf(cause))));
  } catch (thrown) {
    log.warn(`Cannot tell which warnings are new: ${clauseOf(thrown)}.`);
    return new Set(causes);
  }
}
