/** Whether a run could begin here and now: one finding for each thing that it needs, in the order that it needs them. */
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import {
  type Config,
  type ConfigInputs,
  configFileName,
  loadConfig,
  warehouseFolder,
} from "../config/config.ts";
import { ConfigError } from "../config/faults.ts";
import { targetError } from "../targets/deliver.ts";
import type { FreeBytes } from "../warehouse/disk.ts";
import type { OutputFolder } from "../warehouse/layout.ts";
import type { Verification } from "../warehouse/verify-run.ts";
import { checkService, type ServiceAsking } from "./check-service.ts";
import { type CheckedWarehouse, checkCurrentRun, checkWarehouse } from "./check-warehouse.ts";
import { type Finding, failed, ok, skipped } from "./finding.ts";
import { knownInstance } from "./source.ts";

export interface CheckRequest extends ServiceAsking {
  readonly inputs: ConfigInputs;
  readonly nodeVersion: string;
  readonly freeBytes: FreeBytes;
  readonly verifyCurrent: (folder: OutputFolder) => Promise<Verification>;
}

/** Changes nothing and publishes nothing. Failures are findings, never thrown. */
export async function* check(request: CheckRequest): AsyncGenerator<Finding> {
  const { inputs } = request;
  yield ok("node", request.nodeVersion);
  const config = await loadConfig(inputs).catch(asWarehouseError);
  yield* configFindings(config, inputs);
  const path = await warehouseFolder(inputs).catch(asWarehouseError);
  const warehouse = yield* checkWarehouse(path, request.freeBytes);
  yield* checkService(config, warehouse, request);
  yield await checkCurrentRun(config, warehouse, request.verifyCurrent);
  if (!(config instanceof WarehouseError)) yield* checkTargets(config, warehouse, request.signal);
}

async function* checkTargets(
  config: Config,
  warehouse: CheckedWarehouse | null,
  signal: AbortSignal,
): AsyncGenerator<Finding> {
  const baseline = warehouse?.baseline;
  const instance =
    baseline === undefined || baseline instanceof WarehouseError ? null : knownInstance(baseline, config);
  for (const target of config.targets) {
    try {
      const last = await target.last(instance, signal);
      await target.check?.(signal);
      const has = last === null ? "has no run yet" : `has the run ${last.run}`;
      const able =
        target.check === undefined ? "it does not say whether it can be written to" : "it can be written to";
      yield ok("target", `${target.name} ${has}; ${able}`);
    } catch (thrown) {
      yield failed("target", targetError(target, thrown));
    }
  }
}

function configFindings(config: Config | WarehouseError, inputs: ConfigInputs): Finding[] {
  const read = ok("configuration", configFileName(inputs) ?? "no file; options, variables and defaults");
  if (!(config instanceof WarehouseError)) return [read, ok("token", tokenText(config))];
  const unread = skipped("token", "needs a configuration");
  if (!(config instanceof ConfigError)) return [failed("configuration", config), unread];
  const token = config.faults.filter(({ about }) => about === "token");
  const others = config.faults.filter(({ about }) => about !== "token");
  return [
    others.length > 0 ? failed("configuration", new ConfigError(others)) : read,
    token.length > 0 ? failed("token", new ConfigError(token)) : unread,
  ];
}

function tokenText({ source }: Config): string {
  if (source.kind === "sample") return "none needed for the sample";
  const { tokenFrom } = source;
  return tokenFrom === "CONTENT_API_TOKEN" ? tokenFrom : `${tokenFrom}, which only its owner can read`;
}
