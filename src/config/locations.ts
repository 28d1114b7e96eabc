/** Finds the warehouse and the configuration file without loading the configuration. */
import { resolve } from "node:path";
import { invalidConfig } from "../common/errors.ts";
import { findConfigFile } from "./config-file.ts";

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
/** Default folder of limited runs. */
const LIMITED_WAREHOUSE = "first-look";

/** Folder named by a flag or variable. A limited run ignores the variable. Throws `config.invalid` for an empty path. */
export function namedWarehouse({ cwd, env, flags }: LocationInputs): string | undefined {
  const forAll = flags.limit === undefined ? nonEmpty(env.CONTENT_WAREHOUSE_DIR) : LIMITED_WAREHOUSE;
  const named = flags.warehouse ?? forAll;
  if (named === undefined) return undefined;
  if (named.trim() !== "") return resolve(cwd, named);
  throw invalidConfig("`warehouse` is empty; give it the path of a folder, or leave it out.");
}

/** Name of the configuration file; `null` if there is none. Throws `config.invalid` if there are several. */
export function configFileName({ cwd, flags }: Pick<LocationInputs, "cwd" | "flags">): string | null {
  if (flags.config !== undefined) return flags.config;
  return flags.sample === true ? null : findConfigFile(cwd);
}

/** Text of a variable; `undefined` if it is blank, as a scheduler may leave it. */
export function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text;
}
