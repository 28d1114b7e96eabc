/** Where the warehouse and the configuration are, as far as that is known without loading the configuration. */
import { resolve } from "node:path";
import { findConfigFile } from "./config-file.ts";
import { invalid } from "./faults.ts";

interface Inputs {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: {
    readonly config?: string | null | undefined;
    readonly warehouse?: string | undefined;
    readonly sample?: boolean | undefined;
    readonly limit?: number | undefined;
  };
}

/** Unless something else is named: the setting's default. */
export const DEFAULT_WAREHOUSE = "warehouse";
/** Where limited runs lie unless a flag says otherwise. */
const LIMITED_WAREHOUSE = "first-look";

/** An empty path would be the working directory. A limited run takes none that is named for all runs. */
export function namedWarehouse({ cwd, env, flags }: Inputs): string | undefined {
  const forAll = flags.limit === undefined ? nonEmpty(env.CONTENT_WAREHOUSE_DIR) : LIMITED_WAREHOUSE;
  const named = flags.warehouse ?? forAll;
  if (named === undefined) return undefined;
  if (named.trim() !== "") return resolve(cwd, named);
  throw invalid("`warehouse` is empty; give it the path of a folder, or leave it out.");
}

/** Name of the file that settings are read from; `null`: there is none. Throws `config.invalid` where there are several. */
export function configFileName({ cwd, flags }: Pick<Inputs, "cwd" | "flags">): string | null {
  if (flags.config !== undefined) return flags.config;
  return flags.sample === true ? null : findConfigFile(cwd);
}

/** A variable that is set to nothing is not set: so are those that a scheduler lost. */
export function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text;
}
