/** The configured targets, for commands that work on them. */
import { systemClock } from "../common/clock.ts";
import { WarehouseError } from "../common/errors.ts";
import { duration } from "../common/figures.ts";
import { didYouMean } from "../common/nearest.ts";
import { loadSettings } from "../config/config.ts";
import type { Target } from "../pipeline.ts";
import { type Delivery, deliver, deliveryWarnings } from "../targets/deliver.ts";
import { readDeliveredRun, readFolderRuns } from "../targets/published-run.ts";
import type { OutputFolder } from "../warehouse/layout.ts";
import { findRun, listRuns } from "../warehouse/retention.ts";
import { type CliEnvironment, invalid } from "./command.ts";

export interface TargetFlags {
  readonly warehouse: string;
  readonly config?: string;
  /** Name of the only one that is meant. */
  readonly target?: string;
  readonly json?: true;
}

type PickedTarget = Pick<TargetFlags, "config" | "target">;

/** Throws `config.invalid` where none is configured, `config.not_found` where the one that is named is not. */
export async function chooseTargets(
  { cwd, env }: Pick<CliEnvironment, "cwd" | "env">,
  { config, target }: PickedTarget,
): Promise<readonly Target[]> {
  const { targets } = await loadSettings({ cwd, env, flags: { config } });
  if (targets.length === 0) {
    throw invalid(
      "No targets are configured; set `targets` in the configuration file, or name that file with --config.",
    );
  }
  if (target === undefined) return targets;
  const found = targets.filter(({ name }) => name === target);
  if (found.length > 0) return found;
  const names = targets.map(({ name }) => name);
  throw new WarehouseError(
    "config.not_found",
    `There is no target "${target}"${didYouMean(target, names)}; "content-warehouse runs show --section targets" lists those that are configured.`,
  );
}

/**
 * The one target of a kind. Throws `config.invalid` where none is of it, or several are and no name says which; what else
 * {@link chooseTargets} throws.
 */
export async function chooseTarget<Kind extends Target>(
  environment: Pick<CliEnvironment, "cwd" | "env">,
  flags: PickedTarget,
  what: string,
  isOfKind: (target: Target) => target is Kind,
): Promise<Kind> {
  const targets = (await chooseTargets(environment, flags)).filter(isOfKind);
  const [only, ...others] = targets;
  if (only !== undefined && others.length === 0) return only;
  const names = targets.map(({ name }) => name).join(", ");
  throw invalid(
    only === undefined
      ? `No ${what} is among the targets; name another configuration with --config, or another target.`
      : `Several targets could be meant (${names}); name one with --target.`,
  );
}

/** Targets that may have runs of the folder: none has a limited one. */
export async function targetsOfFolder(
  folder: OutputFolder,
  targets: readonly Target[],
): Promise<readonly Target[]> {
  const current = (await listRuns(folder)).find((each) => each.current);
  if (current === undefined || current.manifest instanceof WarehouseError) return targets;
  return current.manifest.verdict === "limited" ? [] : targets;
}

/** Delivers a run of a warehouse folder, whose lock is held. `wanted`: a run's name, its number, or `current`. */
export async function deliverRun(
  folder: OutputFolder,
  wanted: string,
  options: {
    readonly targets: readonly Target[];
    readonly temporaryDirectory: string;
    readonly signal: AbortSignal;
    /** Whether somebody rolled back to it; false unless given. */
    readonly isRollback?: boolean;
  },
): Promise<{ readonly run: string; readonly deliveries: readonly Delivery[] }> {
  const { targets, signal } = options;
  const published = await findRun(folder, wanted);
  const run = await readDeliveredRun(published, {
    ...options,
    ...(await readFolderRuns(folder)),
    onProgress: () => {},
  });
  const elapsedMs = () => systemClock.elapsedMs();
  return { run: run.run, deliveries: await deliver(targets, run, { elapsedMs, signal }) };
}

/** What became of each delivery, a line each. */
export function deliveryLines(run: string, deliveries: readonly Delivery[]): string[] {
  return [...deliveries.map((each) => deliveryText(run, each)), ...deliveryWarnings(deliveries)];
}

function deliveryText(run: string, { target, state, milliseconds, failure }: Delivery): string {
  if (failure !== null) return `${target}: FAILED`;
  if (state === "present") return `${target}: has ${run} already`;
  return `${target}: delivered ${run} in ${duration(milliseconds / 1000)}`;
}
