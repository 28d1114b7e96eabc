/** Where the warehouse is. The configuration is loaded only where there is one: most of the time of a short command is loading. */
import { resolve } from "node:path";
import type { ConfigInputs } from "./config.ts";
import { nameIn } from "./config-file.ts";
import { invalid } from "./faults.ts";

type Inputs = Omit<ConfigInputs, "sampleBy">;

/** Unless something else is named: the setting's default. */
export const DEFAULT_WAREHOUSE = "warehouse";
/** Where limited runs lie unless a flag says otherwise. */
const LIMITED_WAREHOUSE = "first-look";

/**
 * Absolute path of the warehouse's folder: the flag, else `CONTENT_WAREHOUSE_DIR`, else the configuration file, else
 * `warehouse` in the working directory. Throws `config.invalid`.
 */
export async function warehouseFolder(inputs: Inputs): Promise<string> {
  const named = namedWarehouse(inputs);
  if (named !== undefined) return named;
  if (configFileName(inputs) === null) return resolve(inputs.cwd, DEFAULT_WAREHOUSE);
  const { configuredWarehouse } = await import("./config.ts");
  return configuredWarehouse(inputs);
}

/** An empty path would be the working directory. A limited run takes none that is named for all runs. */
export function namedWarehouse({ cwd, env, flags }: Inputs): string | undefined {
  const forAll = flags.limit === undefined ? nonEmpty(env.CONTENT_WAREHOUSE_DIR) : LIMITED_WAREHOUSE;
  const named = flags.warehouse ?? forAll;
  if (named === undefined) return undefined;
  if (named.trim() !== "") return resolve(cwd, named);
  throw invalid("`warehouse` is empty; give it the path of a folder, or leave it out.");
}

/** Name of the file that settings are read from; `null`: there is none. Throws `config.invalid` where there are several. */
export function configFileName({ cwd, flags }: Pick<ConfigInputs, "cwd" | "flags">): string | null {
  if (flags.config !== undefined) return flags.config;
  return flags.sample === true ? null : nameIn(cwd);
}

/** A variable that is set to nothing is not set: so are those that a scheduler lost. */
export function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text;
}
