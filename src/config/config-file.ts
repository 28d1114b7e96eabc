/** Finds the warehouse and the configuration file, and reads that file, without judging settings. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { codeOf, invalidConfig } from "../common/errors.ts";
import { importModule, importProblem } from "../common/import-module.ts";
import { printable } from "../common/printable.ts";
import { expandHome } from "../common/user-path.ts";

const NAMES = [".ts", ".mts", ".js", ".mjs", ".json"].map(
  (extension) => `content-warehouse.config${extension}`,
);

export interface ConfigFile {
  /** Name for messages: as found in the working directory, or as given. */
  readonly name: string;
  /** Absolute path; paths in the file are relative to it. */
  readonly folder: string;
  readonly value: unknown;
}

async function readConfigFile(cwd: string, name: string): Promise<ConfigFile> {
  const path = resolve(cwd, expandHome(name));
  if (!existsSync(path)) throw invalidConfig(`There is no configuration file ${printable(name)}.`);
  return { name: printable(name), folder: dirname(path), value: await settingsIn(path, printable(name)) };
}

/** Name of the configuration file in a folder; `null` if there is none. Throws `config.invalid` if there are several. */
function findConfigFile(cwd: string): string | null {
  const found = NAMES.filter((name) => existsSync(join(cwd, name)));
  if (found.length > 1)
    throw invalidConfig(
      `There are ${found.length} configuration files, ${found.join(" and ")}; keep one of them.`,
    );
  return found[0] ?? null;
}

async function settingsIn(path: string, name: string): Promise<unknown> {
  if (extname(path) === ".json") return await parsed(path, name);
  if (!/^\.m?[jt]s$/.test(extname(path)))
    throw invalidConfig(
      `${name} cannot be read: expected a file that ends in .ts, .mts, .js, .mjs or .json, found ${basename(name)}.`,
    );
  const module = await importModule(pathToFileURL(path).href).catch((error: unknown) => {
    throw invalidConfig(`${name} ${importProblem(error)}`, error);
  });
  if (typeof module === "object" && module !== null && "default" in module) return module.default;
  throw invalidConfig(`${name} exports no settings: write \`export default defineConfig({ ... })\`.`);
}

async function parsed(path: string, name: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw invalidConfig(`${name} cannot be read (${codeOf(error) ?? "unknown reason"}).`, error);
  });
  if (text.trim() === "") throw invalidConfig(`${name} is empty; write {} to use the defaults.`);
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    const comment = commentLine(text);
    if (comment !== undefined)
      throw invalidConfig(
        `${name} has a comment at line ${comment}, and JSON has none; remove it, or write a module (.mts) that exports the settings.`,
      );
    // The rest of the message quotes the text, so it is not shown.
    const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(String(error)) ?? [];
    const where = line === undefined ? "" : `, at line ${line}, column ${column}`;
    throw invalidConfig(`${name} is not JSON: look for a missing or extra quote, comma or bracket${where}.`);
  }
}

/** Line of the first comment outside of strings; `undefined` if there is none. */
function commentLine(text: string): number | undefined {
  const found = [...text.matchAll(/"(?:[^"\\\n]|\\.)*"|(?<comment>\/\/|\/\*|#)/g)].find(
    ({ groups }) => groups?.comment,
  );
  return found && text.slice(0, found.index).split("\n").length;
}

interface LocationInputs {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: {
    readonly config?: string | null | undefined;
    readonly warehouse?: string | undefined;
    readonly sample?: boolean | undefined;
    readonly limit?: number | undefined;
  };
}

/** Default of the setting `warehouse`. */
export const DEFAULT_WAREHOUSE = "warehouse";
/** Folder named by a flag or variable. A limited run ignores the variable. Throws `config.invalid` for an empty path. */
export function namedWarehouse({ cwd, env, flags }: LocationInputs): string | undefined {
  const forAll = flags.limit === undefined ? nonEmpty(env.CONTENT_WAREHOUSE_DIR) : "first-look";
  const named = flags.warehouse ?? forAll;
  if (named === undefined) return undefined;
  if (named.trim() !== "") return resolve(cwd, expandHome(named));
  throw invalidConfig("`warehouse` is empty; give it the path of a folder, or leave it out.");
}

/** Name of the configuration file; `null` if there is none. Throws `config.invalid` if there are several. */
export function configFileName({ cwd, flags }: Pick<LocationInputs, "cwd" | "flags">): string | null {
  if (flags.config !== undefined) return flags.config;
  return flags.sample === true ? null : findConfigFile(cwd);
}

/** The configuration file; `null` if there is none. Throws `config.invalid`. */
export async function configFileOf({
  cwd,
  flags,
}: Pick<LocationInputs, "cwd" | "flags">): Promise<ConfigFile | null> {
  const name = configFileName({ cwd, flags });
  return name === null ? null : readConfigFile(cwd, name);
}

/** Text of a variable; `undefined` if it is blank, as a scheduler may leave it. */
export function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text;
}
