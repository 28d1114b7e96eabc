/**
 * The target `lake`: Delta Lake tables on a file system or in a bucket, partitioned by instance.
 *
 * A delivery has five steps:
 *
 * 1. read    `instance.ts`: which run has the lake? The new run must descend from it, or replace it by a rollback.
 * 2. upload  `delivery.ts`: files that the tables do not name are uploaded under new names.
 * 3. claim   `commits.ts`: the next delivery number is taken, by a commit to `run_snapshots` that holds only a `txn`.
 * 4. commit  Each table is committed with that number.
 * 5. finish  The rows of the run are committed to `run_snapshots`, with the same number.
 *
 * Every commit is put only if its version does not exist yet. The log of `run_snapshots` puts the deliveries of an instance
 * in order: a delivery stops when it finds a higher number than its own. No process finishes the delivery of another one.
 * A killed delivery is repeated. The repetition commits every table, so that late writes of the killed one collide.
 */
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { systemClock } from "../../common/clock.ts";
import { invalidConfig } from "../../common/errors.ts";
import { invisibleClause } from "../../common/look-alike.ts";
import { nameOption, parseOptions } from "../../common/parse-form.ts";
import type { ProxyFor } from "../../common/proxy.ts";
import type { DeliveredRun, InstanceIdentity, LastRun, StagedLoad, Target } from "../../pipeline.ts";
import { sameRun } from "../../warehouse/identity.ts";
import { assertMayFollow } from "../deliver.ts";
import { FileStore } from "../store/file-store.ts";
import { openS3Store } from "../store/s3-store.ts";
import type { Store } from "../store/store.ts";
import { commitDelivery } from "./commits.ts";
import { describeTables, type LakeDelivery, uploadTables } from "./delivery.ts";
import { assertDeliverable, type InstanceState, type LakeSession, readInstance } from "./instance.ts";
import { isCopied } from "./keys.ts";
import { downloadRun, readRestorableManifest } from "./stored-run.ts";

/** Opens a session for one step and closes it. Once the signal is aborted, every call to the store throws its reason. */
type LakeOpener = <Result>(
  signal: AbortSignal,
  use: (session: LakeSession) => Promise<Result>,
) => Promise<Result>;

/** A lake as a target; the commands of `lake` open it themselves. */
export interface LakeTarget extends Target {
  readonly kind: "lake";
  readonly open: LakeOpener;
  /** The same lake with what the configuration says outside of its options. `instance`: if they do not name one. */
  readonly withEnvironment: (environment: {
    readonly instance: string | undefined;
    readonly proxyFor: ProxyFor;
  }) => LakeTarget;
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
    for (const fault of storeFaults(options)) addIssue(fault);
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

/** Steps 1 and 2; `commit` does the others. After a failure `lake vacuum` removes what was uploaded. */
export async function stageDelivery(open: LakeOpener, run: DeliveredRun): Promise<StagedLoad> {
  const tables = describeTables(run);
  const copied = [...run.files.filter(({ path }) => isCopied(path)), run.manifest];
  const total = [...copied, ...tables.flatMap(({ files }) => files)].reduce(
    (sum, { bytes }) => sum + bytes,
    0,
  );
  let done = 0;
  const onUpload = (bytes: number) => {
    done += bytes;
    run.onProgress(done, total);
  };
  return await open(run.signal, async (session) => {
    const beganMs = session.clock.now();
    const delivery = { run, tables, uploaded: new Map(), beganMs, signal: run.signal, onUpload };
    const seen = await readAndUpload(session, delivery, run);
    const commit = () =>
      open(run.signal, (again) =>
        commitDelivery(again, delivery, seen, () => readAndUpload(again, delivery, run)),
      );
    return { commit, abort: async () => {} };
  });
}

/**
 * Steps 1 and 2; `null` if the lake has the run already. Throws `target.fenced` if the run may not follow the last one, and
 * `target.refused` if a table or the store cannot take it; then nothing was written.
 */
async function readAndUpload(
  session: LakeSession,
  delivery: LakeDelivery,
  run: DeliveredRun,
): Promise<InstanceState | null> {
  const state = await readInstance(session, run.instance);
  const { last, isUnfinished } = state;
  const isThere = last !== null && sameRun(last, run);
  if (isThere && !isUnfinished) return null;
  if (!isThere) assertMayFollow({ name: session.store.address, keepsRuns: true }, last, run);
  await assertDeliverable(session, state, delivery.tables);
  await uploadTables(session, delivery);
  return state;
}

/** Folders of a prefix have only characters that need no encoding in paths and URLs of any engine that reads the lake. */
const S3_ADDRESS =
  /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._=-]+)*)\/?$/;

const URL_FAULT =
  'url: expected file:///folder, or s3://bucket/prefix with letters, digits, ".", "_", "=" and "-"; credentials come from the environment or the files of the AWS tools';

type StoreOptions = Pick<LakeOptions, "url" | "endpoint" | "pathStyle" | "region">;

/** Opens a store without any request: a missing bucket fails the first one. Throws `config.invalid`. */
export async function openStore(
  options: StoreOptions,
  signal: AbortSignal,
  proxyFor: ProxyFor = () => null,
): Promise<Store> {
  const address = parseAddress(options.url);
  if (address === null) throw invalidConfig(`lake: ${URL_FAULT}.`);
  return "folder" in address
    ? new FileStore(address.folder, signal)
    : await openS3Store(address, { ...options, proxyFor }, signal);
}

/** Parses the address of a store; `null` if it is none. `prefix`: empty, or ends with a slash. */
function parseAddress(
  url: string,
): { readonly folder: string } | { readonly bucket: string; readonly prefix: string } | null {
  const [, bucket, folders = ""] = S3_ADDRESS.exec(url) ?? [];
  if (bucket !== undefined) return { bucket, prefix: folders === "" ? "" : `${folders.slice(1)}/` };
  const parsed = URL.parse(url);
  if (parsed?.protocol !== "file:" || parsed.hostname !== "" || /^file:\/+~|[?#]/.test(url)) return null;
  try {
    return { folder: fileURLToPath(parsed) };
  } catch {
    return null;
  }
}

/** Faults of the options of a store. They do not repeat an address, which may hold a password. */
function storeFaults({ url, endpoint, pathStyle, region }: StoreOptions): readonly string[] {
  const address = parseAddress(url);
  const invisible = invisibleClause(url);
  if (address === null) return [invisible === null ? URL_FAULT : `url: ${invisible}`];
  if ("folder" in address)
    return Object.entries({ endpoint, pathStyle, region })
      .filter(([, value]) => value !== undefined)
      .map(([name]) => `${name}: a folder (file:///) has none; leave it out`);
  if (endpoint === undefined) return [];
  const { protocol, username, password, search, hash } = URL.parse(endpoint) ?? {};
  return /^https?:$/.test(protocol ?? "") && `${username}${password}${search}${hash}` === ""
    ? []
    : ["endpoint: expected an address such as https://minio.example.com:9000, without credentials"];
}
