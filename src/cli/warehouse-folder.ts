import { resolve } from "node:path";
import type { ConfigInputs } from "../config/config.ts";
import { configFileName, DEFAULT_WAREHOUSE, namedWarehouse } from "../config/locations.ts";

/**
 * Absolute path of the warehouse's folder: the flag, else `CONTENT_WAREHOUSE_DIR`, else the configuration file, else
 * `warehouse` in the working directory. The configuration is loaded only where there is one: most of the time of a short
 * command is loading. Throws `config.invalid`.
 */
export async function warehouseFolder(inputs: Omit<ConfigInputs, "sampleBy">): Promise<string> {
  const named = namedWarehouse(inputs);
  if (named !== undefined) return named;
  if (configFileName(inputs) === null) return resolve(inputs.cwd, DEFAULT_WAREHOUSE);
  const { loadWarehouseFolder: configuredWarehouse } = await import("../config/config.ts");
  return configuredWarehouse(inputs);
}
