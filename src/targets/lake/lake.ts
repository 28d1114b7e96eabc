/** The target `lake`: Delta Lake tables on a file system or in a bucket, partitioned by instance. */
import { z } from "zod";
import { systemClock } from "../../common/clock.ts";
import { invalidConfig } from "../../common/errors.ts";
import { nameOption, parseOptions } from "../../common/parse-form.ts";
import type { ProxyFor } from "../../common/proxy.ts";
import type { InstanceIdentity, LastRun, Target } from "../../pipeline.ts";
import { openStore, storeFaults } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { type LakeOpener, stageDelivery } from "./deliver.ts";
import { assertDeliverable, type LakeSession, readInstance } from "./instance.ts";
import { downloadRun, readRestorableManifest } from "./stored-run.ts";

/** A lake as a target; the commands of `lake` open it themselves. */
export interface LakeTarget extends Target {
  readonly kind: "lake";
  readonly open: LakeOpener;
  /** The same lake with what the configuration says outside of its options. */
  readonly withEnvironment: (around: LakeEnvironment) => LakeTarget;
}

interface LakeEnvironment {
  /** Name of the instance if the options do not name one. */
  readonly instance: string | undefined;
  readonly proxyFor: ProxyFor;
}

export function isLake(target: Target): target is LakeTarget {
  return "kind" in target && target.kind === "lake";
}

export const lakeOptions = z
  .strictObject({
    url: z.string().describe("s3://bucket/prefix, or file:///folder."),
    instance: nameOption
      .optional()
      .describe("Name of the instance in the lake (default: CONTENT_WAREHOUSE_INSTANCE)."),
    name: nameOption.optional().describe('Name of the target (default: "lake").'),
    endpoint: z.string().optional().describe("Address of an S3-compatible store other than Amazon's."),
    pathStyle: z.boolean().optional().describe("Whether the bucket is part of the path in addresses."),
    region: z.string().optional().describe("Region of the bucket."),
    logRetentionDays: z
      .int()
      .min(1)
      .optional()
      .describe("Days for which earlier versions of tables are kept (default: 30)."),
  })
  .superRefine((options, { addIssue }) => {
    for (const fault of storeFaults(options)) addIssue(fault.replace(/\.$/, ""));
  });

export type LakeOptions = Readonly<z.input<typeof lakeOptions>>;

/** Delivers to a lake. Credentials of a bucket come from where the AWS tools look, not from the options. */
export function lake(given: LakeOptions): LakeTarget {
  const options = parseOptions("lake", lakeOptions, given);
  const connect = (instance: string, proxyFor: ProxyFor): LakeTarget => ({
    ...lakeIn((signal) => openStore(options, signal, proxyFor), { ...options, instance }),
    withEnvironment: (environment) => {
      const name = options.instance ?? environment.instance;
      if (name === undefined)
        throw invalidConfig("lake: instance is missing: name it, or set CONTENT_WAREHOUSE_INSTANCE.");
      return connect(parseOptions("lake: instance", nameOption, name), environment.proxyFor);
    },
  });
  return connect(options.instance ?? "", () => null);
}

/** A lake in a store, which is opened for each step and closed after it. */
export function lakeIn(
  openStoreOf: (signal: AbortSignal) => Promise<Store>,
  options: Pick<LakeOptions, "name" | "logRetentionDays"> & { readonly instance: string },
): LakeTarget {
  const { instance, name = "lake", logRetentionDays = 30 } = options;
  const open: LakeOpener = async (signal, use) => {
    await using store = await openStoreOf(signal);
    return await use({ store, instance, logRetentionDays, clock: systemClock });
  };
  const target: LakeTarget = {
    kind: "lake",
    name,
    open,
    withEnvironment: () => target,
    last: (service, signal) => open(signal, (session) => lastRun(session, service)),
    stage: (run) => stageDelivery(open, run),
    check: (signal, tables) =>
      open(signal, async (session) => assertDeliverable(session, await readInstance(session, null), tables)),
    restore: (run, directory, signal) => open(signal, (session) => downloadRun(session, run, directory)),
    manifest: (run, signal) => open(signal, (session) => readRestorableManifest(session, run)),
  };
  return target;
}

async function lastRun(session: LakeSession, service: InstanceIdentity | null): Promise<LastRun | null> {
  const { last, isUnfinished } = await readInstance(session, service);
  if (last === null) return null;
  const { run, sequence, sha256, rollbackOf } = last;
  return { run, sequence, sha256, ...(rollbackOf && { rollbackOf }), ...(isUnfinished && { isUnfinished }) };
}
