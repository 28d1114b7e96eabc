/** Whom a run tells and gives what it publishes: it depends on none of them, but to go on from what a target keeps. */
import { WarehouseError } from "../../common/errors.ts";
import { configuredObservers, problemOf } from "../../observe/observers.ts";
import { publishes } from "../../pipeline.ts";
import { RUN_TABLES } from "../../tables/all.ts";
import { targetError } from "../../targets/deliver.ts";
import { type Current, currentIn } from "../../targets/published-run.ts";
import { askTargets, lookAtNewest, restoreNewest, type TargetState } from "../../targets/restore.ts";
import { standingTold } from "../../targets/target-states.ts";
import { targetsOf } from "../delivery.ts";
import { knownInstance } from "../source.ts";
import { type Finding, failedLater, ok, warning } from "./finding.ts";
import { type Facts, type Step, step } from "./step.ts";

export const TARGETS: readonly Step[] = [
  step({
    name: "target",
    tells: [],
    needs: ["options", "pipeline", "folder", "found"],
    async meet({ options: { config, signal }, pipeline, folder, found }) {
      const targets = targetsOf(config);
      if (targets.length > 0 && !publishes(pipeline, "parquet")) throw withoutParquet(pipeline);
      const instance = knownInstance(found, config);
      return { targets: await askTargets(folder, targets, { instance, signal }) };
    },
    async go({ options: { signal, log }, folder, targets }) {
      await restoreNewest(folder, targets, { signal, warn: (message) => log.warn(message) });
      return { goesOnFrom: null };
    },
    async *look({ options: { signal }, pipeline, folder, targets }) {
      const current = await currentIn(folder);
      for (const state of targets) yield await targetFinding(state, { pipeline, current, signal });
      yield { learnt: { goesOnFrom: await lookAtNewest(folder, targets, signal) } };
    },
  }),
];

function withoutParquet({ name }: Facts["pipeline"]): WarehouseError {
  return new WarehouseError(
    "config.invalid",
    `The pipeline ${name} publishes no Parquet files, which targets are made from: add parquet() to its loaders, or leave out \`targets\`.`,
  );
}

/** What fails here fails once the run is published, with the same sentence. */
async function targetFinding(
  { target, last, failure }: TargetState,
  {
    pipeline,
    current,
    signal,
  }: Pick<Facts, "pipeline"> & { readonly current: Current | undefined; readonly signal: AbortSignal },
): Promise<Finding> {
  try {
    if (failure !== null) throw failure;
    await target.check?.(signal, [...pipeline.tables, ...RUN_TABLES]);
  } catch (thrown) {
    return failedLater("target", targetError(target, thrown));
  }
  const able =
    target.check === undefined ? "it does not say whether it can be written to" : "it can be written to";
  return ok("target", `${target.name}: ${standingTold(target, last, current).says}; ${able}`);
}

export const OBSERVERS: readonly Step[] = [
  step({
    name: "observers",
    tells: [],
    needs: ["options"],
    async *look({ options: { config, clock } }) {
      const { observe: settings, warehouse } = config;
      for (const observer of configuredObservers({ settings, warehouse }, clock.now())) {
        const problem = await problemOf(observer);
        yield problem === null
          ? ok("observers", `${observer.name} can be told`)
          : warning("observers", problem);
      }
    },
  }),
];
