/** Configured targets: choosing them by flags, and delivering a run to them. */
import { systemClock } from "../common/clock.ts";
import { invalidConfig, WarehouseError } from "../common/errors.ts";
import { duration } from "../common/figures.ts";
import { didYouMean } from "../common/nearest.ts";
import { loadSettings } from "../config/config.ts";
import type { Target } from "../pipeline.ts";
import { type Delivery, deliver, deliveryWarnings } from "../targets/deliver.ts";
import { readDeliveredRun, readFolderRuns } from "../targets/published-run.ts";
import type { OutputFolder } from "../warehouse/layout.ts";
import type { PublishedRun } from "../warehouse/retention.ts";
import type { CliEnvironment } from "./command.ts";

export interface TargetFlags {
  readonly warehouse: string;
  readonly config?: string;
  /** Name of the target to use; `undefined` means all. */
  readonly target?: string;
  readonly json?: true;
}

/** Targets by the flags. Throws `config.invalid` if none is configured, `config.not_found` for an unknown name. */
export async function chooseTargets(
  { cwd, env }: Pick<CliEnvironment, "cwd" | "env">,
  { config, target }: Pick<TargetFlags, "config" | "target">,
): Promise<readonly Target[]> {
  const { targets } = await loadSettings({ cwd, env, flags: { config } });
  if (targets.length === 0) {
    throw invalidConfig(
      "No targets are configured; add `targets` to the configuration file, or name that file with --config.",
    );
  }
  if (target === undefined) return targets;
  const found = targets.filter(({ name }) => name === target);
  if (found.length > 0) return found;
  const names = targets.map(({ name }) => name);
  throw new WarehouseError(
    "config.not_found",
    `There is no target "${target}"${didYouMean(target, names)}; "content-warehouse runs show --section targets" lists the configured targets.`,
  );
}

/**
 * The only target of a kind, which `what` names in messages. Throws `config.invalid` if there is none or more than one,
 * and the errors of {@link chooseTargets}.
 */
export async function chooseTarget<Kind extends Target>(
  environment: Pick<CliEnvironment, "cwd" | "env">,
  flags: Pick<TargetFlags, "config" | "target">,
  what: string,
  isOfKind: (target: Target) => target is Kind,
): Promise<Kind> {
  const targets = (await chooseTargets(environment, flags)).filter(isOfKind);
  const [only, ...others] = targets;
  if (only !== undefined && others.length === 0) return only;
  const names = targets.map(({ name }) => name).join(", ");
  throw invalidConfig(
    only === undefined
      ? `There is no ${what} among the targets; name another target, or another configuration with --config.`
      : `There are several targets (${names}); name one with --target.`,
  );
}

/** Delivers a run that {@link findWholeRun} found. The caller holds the lock of the folder. */
export async function deliverRun(
  folder: OutputFolder,
  published: PublishedRun,
  options: {
    readonly targets: readonly Target[];
    readonly temporaryDirectory: string;
    readonly signal: AbortSignal;
    /** Whether the run takes the place of a later one; false by default. */
    readonly isRollback?: boolean;
  },
): Promise<{ readonly run: string; readonly deliveries: readonly Delivery[] }> {
  const { targets, signal } = options;
  const run = await readDeliveredRun(published, {
    ...options,
    ...(await readFolderRuns(folder)),
    onProgress: () => {},
  });
  return { run: run.run, deliveries: await deliver(targets, run, { ...systemClock, signal }) };
}

/** A line for each delivery, then the warnings. */
export function deliveryText(run: string, deliveries: readonly Delivery[]): string {
  const lines = deliveries.map(({ target, state, milliseconds, failure }) => {
    if (failure !== null) return `${target}: FAILED`;
    if (state === "present") return `${target}: already has ${run}`;
    return `${target}: delivered ${run} in ${duration(milliseconds / 1000)}`;
  });
  return [...lines, ...deliveryWarnings(deliveries)].map((line) => `${line}\n`).join("");
}
