/** The target `lake`: Delta Lake tables on a file system or in a bucket, partitioned by instance. */
import { systemClock } from "../../common/clock.ts";
import { isObject } from "../../common/objects.ts";
import { isName, isText, type Options, optionFaults } from "../../common/options.ts";
import type { Target } from "../../pipeline.ts";
import { type StoreOptions, storeFaults } from "../store/address.ts";
import { openStore } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { proveDeliverable } from "./check.ts";
import { forgetEarlier } from "./forget.ts";
import { highestTaken, lastRun } from "./last.ts";
import { restorableRuns, restoreRun } from "./restore.ts";
import { type OpenLake, stageDelivery } from "./stage.ts";

export interface LakeOptions extends StoreOptions {
  /** Name of the instance in the lake: lower-case letters, digits and `-`, 63 at most. CONTENT_WAREHOUSE_INSTANCE else. */
  readonly instance?: string | undefined;
  /** Of the target among those of a configuration; `lake` by default. */
  readonly name?: string | undefined;
  /** Days for which earlier versions of the tables can be read; 30 by default. */
  readonly logRetentionDays?: number | undefined;
}

/** A lake as a target, which commands can ask more of. */
export interface LakeTarget extends Target {
  readonly kind: "lake";
  readonly open: OpenLake;
  /** The same of an instance of this name, where its options name none. */
  readonly named: (instance: string) => LakeTarget;
}

export function isLake(target: Target): target is LakeTarget {
  return "kind" in target && target.kind === "lake";
}

const OPTIONS: Options = {
  url: textVerdict,
  endpoint: textVerdict,
  pathStyle: (value) => typeof value === "boolean" || "is neither true nor false",
  region: textVerdict,
  instance: isName,
  name: isName,
  logRetentionDays: (value) =>
    (Number.isInteger(value) && Number(value) >= 1) || "is not a whole number of days, at least 1",
};

function textVerdict(value: unknown): true | string {
  return isText(value) || "is not a text";
}

/** Delivers to a lake. Credentials of a bucket are none of its options: they come from the platform's own chain. */
export function lake(given: LakeOptions): LakeTarget {
  const faults = optionFaults("lake", given, OPTIONS, ["url"]);
  const options: Partial<LakeOptions> = isObject(given) ? given : {};
  const { instance } = options;
  if (isObject(given) && instance === undefined) faults.push(NO_INSTANCE);
  if (faults.length === 0)
    faults.push(...storeFaults(given).map((fault) => `lake: ${fault.replace(/\.$/, "")}`));
  const target = lakeIn((signal) => openStore(given, signal), { ...options, instance: instance ?? "" });
  const named = (name: string) => (instance === undefined ? lake({ ...given, instance: name }) : made);
  const made: LakeTarget = { ...target, faults, named };
  return made;
}

const NO_INSTANCE = "lake: instance is missing: name it, or set CONTENT_WAREHOUSE_INSTANCE";

/** The lake in a store, which is opened for each step and ends with the signal of that. */
export function lakeIn(
  openStoreOf: (signal: AbortSignal) => Promise<Store>,
  options: Pick<LakeOptions, "name" | "logRetentionDays"> & { readonly instance: string },
): LakeTarget {
  const { instance, name = "lake", logRetentionDays = 30 } = options;
  const open: OpenLake = async (signal, use) => {
    await using store = await openStoreOf(signal);
    return await use({ store, instance, logRetentionDays });
  };
  const target: LakeTarget = {
    kind: "lake",
    name,
    open,
    named: () => target,
    last: (service, signal) => open(signal, (place) => lastRun(place, service, signal)),
    taken: (signal) => open(signal, highestTaken),
    stage: (run) => stageDelivery(open, run, systemClock),
    check: (signal, tables) => open(signal, (place) => proveDeliverable(place, tables, signal)),
    restore: (run, directory, signal) => open(signal, (place) => restoreRun(place, run, directory)),
    restorable: (signal) => open(signal, restorableRuns),
    forget: (signal) => open(signal, forgetEarlier),
  };
  return target;
}
