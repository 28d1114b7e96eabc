/** Imports pipelines and configuration files of users, and optional packages. */
import { readFileSync } from "node:fs";
import { type ResolveFnOutput, registerHooks } from "node:module";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { codeOf, WarehouseError } from "./errors.ts";
import { clauseOf } from "./printable.ts";

const OWN_NAME = "content-warehouse";
const OWN_ENTRY = new URL(`../index${extname(import.meta.url)}`, import.meta.url).href;

/**
 * Imports a user's module. Its `content-warehouse` is this very package: Node would not find a global installation, and
 * another copy would have other classes and tables. A file with `import` or `export` is loaded as an ES module even if
 * `npm init` wrote `"type": "commonjs"` next to it.
 */
export async function importModule(url: string): Promise<unknown> {
  const hooks = registerHooks({
    resolve: (specifier, context, nextResolve) =>
      specifier === OWN_NAME
        ? { url: OWN_ENTRY, shortCircuit: true }
        : asModule(nextResolve(specifier, context)),
  });
  try {
    return await import(url);
  } finally {
    hooks.deregister();
  }
}

function asModule(resolved: ResolveFnOutput): ResolveFnOutput {
  const { url, format } = resolved;
  if (!format?.startsWith("commonjs") || /\/node_modules\/|\.c[jt]s$/.test(url)) return resolved;
  const isModule = /^(?:import|export)\b(?! type\b)/m.test(readFileSync(fileURLToPath(url), "utf8"));
  return isModule ? { ...resolved, format: format.replace("commonjs", "module") } : resolved;
}

/** End of a sentence that says why a module could not be imported. */
export function importProblem(thrown: unknown): string {
  return `cannot be imported: ${clauseOf(thrown)}.`;
}

/** Imports optional packages that `who` needs. Throws `config.package` with how to install missing ones. */
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
      "config.package",
      `${who} needs ${what} not installed; install ${them} with: npm install --global ${packages.join(" ")} (without --global if content-warehouse is a dependency of a project).`,
      { cause },
    );
  }
}
