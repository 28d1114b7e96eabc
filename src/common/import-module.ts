/** Importing modules that are not the package's own: pipelines and configuration files of users, and optional packages. */
import { registerHooks } from "node:module";
import { extname } from "node:path";
import { codeOf, WarehouseError } from "./errors.ts";
import { printable } from "./printable.ts";

const OWN_NAME = "content-warehouse";
const OWN_ENTRY = new URL(`../index${extname(import.meta.url)}`, import.meta.url).href;

/**
 * Imports a user's module. Where it imports `content-warehouse`, it gets this very package, wherever it lies: beside a
 * global installation there is none that Node would find, and another copy would have other classes and tables.
 */
export async function importModule(url: string): Promise<unknown> {
  const hooks = registerHooks({
    resolve: (specifier, context, nextResolve) =>
      specifier === OWN_NAME ? { url: OWN_ENTRY, shortCircuit: true } : nextResolve(specifier, context),
  });
  try {
    return await import(url);
  } finally {
    hooks.deregister();
  }
}

/** Why a module could not be imported, as the end of a sentence. */
export function importProblem(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return `cannot be imported: ${printable(message).replace(/\.$/, "")}.`;
}

/** Imports optional packages, which `who` needs. Throws `config.invalid`, which says how to install them, where they are not. */
export async function importPeers<Modules>(
  who: string,
  packages: readonly string[],
  importing: () => Promise<Modules>,
): Promise<Modules> {
  try {
    return await importing();
  } catch (cause) {
    if (codeOf(cause) !== "ERR_MODULE_NOT_FOUND") throw cause;
    const [what, them] = packages.length === 1 ? ["a package that is", "it"] : ["packages that are", "them"];
    throw new WarehouseError(
      "config.invalid",
      `${who} needs ${what} not installed; install ${them} with: npm install --global ${packages.join(" ")} (without --global where content-warehouse is a dependency of a project).`,
      { cause },
    );
  }
}
