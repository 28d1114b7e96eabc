/** Where the text of a statement comes from: the argument, a file, or standard input. */
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { codeOf, WarehouseError } from "../../common/errors.ts";

export type Input = Readable & { readonly isTTY?: boolean };

export interface Given {
  readonly query: string | undefined;
  /** `-` is standard input. */
  readonly file: string | undefined;
}

/** The statement; undefined where nobody gave one: standard input is a terminal. Throws `config.invalid`. */
export async function statementOf({ query, file }: Given, input: () => Input): Promise<string | undefined> {
  if (query !== undefined && file !== undefined) {
    throw new WarehouseError("config.invalid", "A query and --file exclude each other; give one of them.");
  }
  if (query !== undefined) return query;
  if (file !== undefined && file !== "-") return withoutMark(await readStatement(file));
  const stdin = input();
  if (file === undefined && stdin.isTTY === true) return undefined;
  return withoutMark(await text(stdin));
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
