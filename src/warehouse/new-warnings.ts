/** Which warnings are new: those whose cause the run before did not warn of. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import type { Log } from "../common/log.ts";
import { clauseOf } from "../common/printable.ts";
import { readSealed, writeSealed } from "../common/sealed-file.ts";
import type { OutputFolder } from "./layout.ts";

/** SHA-256 of each cause: a cause may name what is erased later. */
const form = z.array(z.string());

/**
 * Returns the causes that the run before did not have, and keeps these for the next run. If they cannot be kept, all count
 * as new. A cause is the name of a check, or a sentence.
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
    log.warn(`Which warnings are new is not known: ${clauseOf(thrown)}.`);
    return new Set(causes);
  }
}
