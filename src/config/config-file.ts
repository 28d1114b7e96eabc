import { existsSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { codeOf, WarehouseError } from "../common/errors.ts";
import { importModule, importProblem } from "../common/import-module.ts";
import { printable } from "../common/printable.ts";
import { Secret } from "../common/secret.ts";
import { invalid } from "./faults.ts";

/** What configuration files say, before anybody has looked at it; and the file with the token. */

const NAMES = [".ts", ".mts", ".js", ".mjs", ".json"].map(
  (extension) => `content-warehouse.config${extension}`,
);

export interface ConfigFile {
  /** As people know it: the name in the working directory, or the path that was given. */
  readonly name: string;
  /** Absolute; paths in the file go from here. */
  readonly folder: string;
  readonly value: unknown;
}

/** The file that was named, or the one in the working directory; `null` where there is none. */
export async function readConfigFile(cwd: string, named: string | undefined): Promise<ConfigFile | null> {
  const name = named ?? findConfigFile(cwd);
  if (name === null) return null;
  const path = resolve(cwd, name);
  if (!existsSync(path)) throw invalid(`There is no configuration file ${printable(name)}.`);
  const value = await settingsIn(path, printable(name));
  return { name: printable(name), folder: dirname(path), value };
}

/** Name of the configuration file in a folder; `null` where there is none. Throws where there are several. */
export function findConfigFile(cwd: string): string | null {
  const found = NAMES.filter((name) => existsSync(join(cwd, name)));
  if (found.length > 1)
    throw invalid(`There are ${found.length} configuration files, ${found.join(" and ")}; keep one of them.`);
  return found[0] ?? null;
}

function settingsIn(path: string, name: string): Promise<unknown> {
  if (extname(path) === ".json") return parsed(path, name);
  if (/^\.m?[jt]s$/.test(extname(path))) return imported(path, name);
  throw invalid(
    `${name} cannot be read: expected a file that ends in .ts, .mts, .js, .mjs or .json, found ${basename(name)}.`,
  );
}

async function parsed(path: string, name: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw invalid(`${name} cannot be read (${codeOf(error) ?? "unknown reason"}).`, error);
  });
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    throw invalid(
      `${name} is not JSON: look for a quote, comma or bracket too few or too many${placeIn(text, error)}.`,
    );
  }
}

/** Line and column, from 1, where the parser tells them. Its message quotes the text, which may hold a secret. */
function placeIn(text: string, error: unknown): string {
  const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  if (position === undefined) return "";
  const lines = text.slice(0, Number(position)).split("\n");
  return `, at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

async function imported(path: string, name: string): Promise<unknown> {
  const module = await importModule(pathToFileURL(path).href).catch((error: unknown) => {
    throw invalid(`${name} ${importProblem(error)}`, error);
  });
  if (typeof module === "object" && module !== null && "default" in module) return module.default;
  throw invalid(`${name} exports no settings: write \`export default defineConfig({ ... })\`.`);
}

/** Bits of a file's mode that let others than its owner read, write or run it. */
const OTHERS = 0o077;

/**
 * The token in a file that only its owner can read, without the space around it. The mode that is checked is that of
 * the file that is read, whatever becomes of its name meanwhile.
 */
export async function readTokenFile(path: string, setting: string): Promise<Secret> {
  try {
    await using file = await open(path, "r");
    const { mode } = await file.stat();
    if ((mode & OTHERS) !== 0) {
      const found = (mode & 0o777).toString(8).padStart(4, "0");
      throw invalid(
        `${setting}: expected a file that only its owner can read, found ${printable(path)} with mode ${found}; run chmod 600 on it.`,
      );
    }
    return new Secret((await file.readFile("utf8")).trim());
  } catch (error) {
    if (error instanceof WarehouseError) throw error;
    if (codeOf(error) === "ENOENT") {
      const wayOut = "put the API token into it, with mode 0600";
      throw invalid(`${setting}: there is no file ${printable(path)}; ${wayOut}.`, error);
    }
    throw invalid(
      `${setting}: the file ${printable(path)} cannot be read (${codeOf(error) ?? "unknown reason"}).`,
      error,
    );
  }
}
