/** The target `lake`: Delta Lake tables on a file system or in a bucket, partitioned by instance. */
import { z } from "zod";
import { systemClock } from "../../common/clock.ts";
import { nameOption, optionsError, parseOptions } from "../../common/parse-form.ts";
import type { ProxyFor } from "../../common/proxy.ts";
import type { InstanceIdentity, LastRun, Target } from "../../pipeline.ts";
import { storeFaults } from "../store/address.ts";
import { openStore } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { stageDelivery } from "./deliver.ts";
import { assertDeliverable, readInstance } from "./instance.ts";
import { downloadRun, readRestorableManifest } from "./restore.ts";
import type { LakeOpener, LakeSession } from "./session.ts";
import { PARQUET_FORMAT } from "./snapshots.ts";

/** A lake as a target, which commands can ask more of. */
export interface LakeTarget extends Target {
  readonly kind: "lake";
  readonly open: LakeOpener;
  /** The same where the configuration is read. */
  readonly withEnvironment: (around: LakeEnvironment) => LakeTarget;
}

/** What is known where a configuration is read, and is none of the options. */
export interface LakeEnvironment {
  /** Name of the instance, where the options name none; undefined: there is none. */
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
      .describe("Name of the instance in the lake; CONTENT_WAREHOUSE_INSTANCE else."),
    name: nameOption.optional().describe('Of the target; "lake" unless given.'),
    endpoint: z.string().optional().describe("Address of a store that speaks S3 and is not Amazon's."),
    pathStyle: z.boolean().optional().describe("Whether the bucket stands in the path of an address."),
    region: z.string().optional().describe("Region of the bucket."),
    logRetentionDays: z
      .int()
      .min(1)
      .optional()
      .describe("Days that earlier versions of tables are kept; 30 unless given."),
  })
  .superRefine((options, { addIssue }) => {
    for (const fault of storeFaults(options)) addIssue(fault.replace(/\.$/, ""));
  });

export type LakeOptions = Readonly<z.input<typeof lakeOptions>>;

/** Delivers to a lake. Credentials of a bucket are none of its options: they come from the platform's own chain. */
export function lake(given: LakeOptions): LakeTarget {
  const options = parseOptions("lake", lakeOptions, given);
  const within = ({ instance = "", proxyFor }: LakeEnvironment): LakeTarget => {
    const opening = (signal: AbortSignal) => openStore(options, signal, proxyFor);
    return { ...lakeIn(opening, { ...options, instance }), withEnvironment: (around) => named(around) };
  };
  const named = (around: LakeEnvironment) => {
    const { instance = around.instance } = options;
    if (instance === undefined)
      throw optionsError("lake", ["instance is missing: name it, or set CONTENT_WAREHOUSE_INSTANCE"]);
    return within({ ...around, instance: parseOptions("lake: instance", nameOption, instance) });
  };
  return within({ instance: options.instance, proxyFor: () => null });
}

/** The lake in a store, which is opened for each step and ends with the signal of that. */
export function lakeIn(
  openStoreOf: (signal: AbortSignal) => Promise<Store>,
  options: Pick<LakeOptions, "name" | "logRetentionDays"> & { readonly instance: string },
): LakeTarget {
  const { instance, name = "lake", logRetentionDays = 30 } = options;
  const open: LakeOpener = async (signal, use) => {
    await using store = await openStoreOf(signal);
    return await use({ store, instance, logRetentionDays, clock: systemClock, format: PARQUET_FORMAT });
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
