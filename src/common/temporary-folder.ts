import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asWarehouseError, codeOf, WarehouseError } from "./errors.ts";
import { printable } from "./printable.ts";

/** Makes a folder in TMPDIR, for its owner alone. Throws `config.output` where none can be made, and what a disk does. */
export function makeTemporaryFolder(prefix: string): string {
  try {
    return mkdtempSync(join(tmpdir(), prefix));
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (error.code !== "internal") throw error;
    const why = codeOf(thrown) ?? error.message;
    throw new WarehouseError(
      "config.output",
      `No temporary folder can be made in ${printable(tmpdir(), 1000)} (${why}); set TMPDIR to a folder that you may write to.`,
      { cause: thrown },
    );
  }
}
