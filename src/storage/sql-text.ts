/** The only module that puts names and values into SQL text. Values are bound wherever DuckDB allows it. */
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { WarehouseError } from "../common/errors.ts";

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Quotes an identifier: `my "table"` becomes `"my ""table"""`. Throws for names that DuckDB would refuse or silently change:
 * empty, with NUL, with more than 255 characters, or broken UTF-16.
 */
export function quoteIdentifier(name: string): string {
  if (name.length === 0 || name.length > 255)
    throw new WarehouseError("internal", "A table or column name is empty or has more than 255 characters.");
  assertWhole(name, "A table or column name");
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes a string literal, for places where nothing can be bound: file names, comments, settings. */
export function quoteLiteral(text: string): string {
  assertWhole(text, "A text in a query");
  return `'${text.replaceAll("'", "''")}'`;
}

function assertWhole(text: string, what: string): void {
  if (text.includes("\0")) throw new WarehouseError("internal", `${what} contains a NUL character.`);
  if (LONE_SURROGATE.test(text)) throw new WarehouseError("internal", `${what} is not well-formed Unicode.`);
}

/**
 * A pattern that matches only this path: for DuckDB's readers, `a?b` matches `aXb` too. Throws `config.output` for a path with
 * a backslash and one of `?`, `*` and `[`, which no pattern can match.
 */
export function exactPattern(path: string): string {
  if (!/[?*[]/.test(path)) return path;
  if (!path.includes("\\")) return path.replace(/[?*[]/g, (character) => `[${character}]`);
  throw new WarehouseError(
    "config.output",
    `The path ${path} has a backslash and one of ? * [ in it, which the database cannot address; name another folder with --warehouse.`,
  );
}

/** Reads SQL steps by the names of their files, in a stage's folder `sql/` and below it. */
export function sqlSteps(folder: URL): (name: string) => string {
  const files = new Map<string, string>();
  return (name) => {
    if (files.size === 0) {
      for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" }))
        if (file.endsWith(".sql")) files.set(basename(file, ".sql"), file);
    }
    const file = files.get(name);
    if (file === undefined)
      throw new WarehouseError("internal", `The SQL step "${name}" is not part of this installation.`);
    return readFileSync(new URL(file, folder), "utf8");
  };
}

/** Replaces marks, which are comments of one word, by texts. In one pass, because a text may look like a mark. */
export function fillMarks(sql: string, texts: Readonly<Record<string, string>>): string {
  const marks = new Map(Object.entries(texts));
  return sql.replace(/\/\* (\w+) \*\//g, (mark, name: string) => marks.get(name) ?? mark);
}
