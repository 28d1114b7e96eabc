/** Where the text of a statement comes from: the argument, a file, or standard input. */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { codeOf, WarehouseError } from "../../common/errors.ts";
import type { CliEnvironment } from "../environment.ts";

/**
 * The statement; undefined where nobody gave one: standard input is a terminal. `file`: `-` is standard input. Throws
 * `config.invalid`, `config.not_found`.
 */
export async function statementOf(
  { query, file }: { readonly query: string | undefined; readonly file: string | undefined },
  environment: CliEnvironment,
): Promise<string | undefined> {
  if (query !== undefined && file !== undefined) {
    throw new WarehouseError("config.invalid", "A query and --file exclude each other; give one of them.");
  }
  if (query !== undefined) return query;
  if (file !== undefined && file !== "-") return withoutMark(await readStatement(file));
  const { input } = environment;
  if (file === undefined && input.isTTY === true) return undefined;
  return withoutMark(await text(input));
}

async function readStatement(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    const why = codeOf(cause) ?? String(cause);
    const message = `The file ${file} cannot be read (${why}); name one that exists.`;
    throw new WarehouseError("config.not_found", message, { cause });
  }
}

/** Editors on Windows put a byte order mark before the text. */
function withoutMark(statement: string): string {
  return statement.replace(/^\uFEFF/, "");
}
