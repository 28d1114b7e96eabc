import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { codeOf, WarehouseError } from "../../common/errors.ts";

export interface FileToWrite {
  /** From the working directory on. */
  readonly name: string;
  readonly text: string;
  /** Of its permissions; 0o600 for secrets. */
  readonly mode: number;
}

/** Throws `config.output` for a file that is there: nothing is ever overwritten. */
export function assertNew(cwd: string, names: readonly string[]): void {
  const there = names.find((name) => existsSync(resolve(cwd, name)));
  if (there !== undefined) throw exists(there);
}

/** Writes new files. Throws `config.output` for one that is there, or cannot be written. */
export async function writeNewFiles(cwd: string, files: readonly FileToWrite[]): Promise<void> {
  assertNew(
    cwd,
    files.map(({ name }) => name),
  );
  for (const { name, text, mode } of files) {
    try {
      await using file = await open(resolve(cwd, name), "wx", mode);
      await file.writeFile(text);
    } catch (thrown) {
      if (codeOf(thrown) === "EEXIST") throw exists(name);
      throw new WarehouseError(
        "config.output",
        `The file ${name} cannot be written (${codeOf(thrown) ?? "unknown reason"}); make its folder, or run init in another one.`,
        { cause: thrown },
      );
    }
  }
}

function exists(name: string): WarehouseError {
  return new WarehouseError(
    "config.output",
    `There is a file ${name} already, and init overwrites nothing; edit it, move it away, or run init in another folder.`,
  );
}
