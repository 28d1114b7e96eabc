import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asWarehouseError, WarehouseError } from "../errors.ts";
import { printable } from "../printable.ts";

/**
 * Makes a folder for what a command needs while it works, and removes it afterwards. Throws `config.output` where none
 * can be made, and `disk.io` where the disk refuses one.
 */
export async function withTemporaryFolder<T>(
  purpose: string,
  use: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = await temporaryFolder(purpose);
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function temporaryFolder(purpose: string): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), `content-warehouse-${purpose}-`));
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (error.code !== "internal") throw error;
    const why = thrown instanceof Error && "code" in thrown ? String(thrown.code) : error.message;
    throw new WarehouseError(
      "config.output",
      `No temporary folder can be made in ${printable(tmpdir(), 1000)} (${why}); set TMPDIR to a folder that you may write to.`,
      { cause: thrown },
    );
  }
}
