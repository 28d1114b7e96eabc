/** The baseline of a run: the published run that it is compared with and continues. */
import { join } from "node:path";
import { asWarehouseError, invalidConfig, WarehouseError } from "../common/errors.ts";
import { pluralize } from "../common/figures.ts";
import { joinFirst } from "../common/nearest.ts";
import { RUN_TABLES } from "../tables/all.ts";
import type { Table } from "../tables/declare.ts";
import { type SourceInstance, sameInstance } from "./identity.ts";
import { currentRun, nameOf, type OutputFolder } from "./layout.ts";
import { type Manifest, readManifestFile } from "./manifest.ts";

/** A table has shrunk too much if it lost more rows than both limits allow. */
export interface ShrinkLimits {
  /** Percentage of the rows of the run before. */
  readonly maxShrinkPercent: number;
  /** Number of rows. */
  readonly minShrink: number;
}

export const SHRINK_LIMITS: ShrinkLimits = { maxShrinkPercent: 10, minShrink: 20 };

/** Largest number of rows that a table may lose. */
export function shrinkLimit(before: number, { maxShrinkPercent, minShrink }: ShrinkLimits): number {
  return Math.max(minShrink, Math.floor((before * maxShrinkPercent) / 100));
}

export type Baseline =
  | { readonly kind: "none" }
  /** The manifest of the current run is missing or cannot be read. */
  | { readonly kind: "damaged"; readonly run: string; readonly reason: string }
  | PublishedBaseline;

export interface PublishedBaseline {
  readonly kind: "run";
  readonly run: string;
  /** Absolute path of the run's folder. */
  readonly directory: string;
  readonly manifest: Manifest;
  /** SHA-256 of the manifest. */
  readonly sha256: string;
}

/** The current run. Throws `config.newer_version` if a newer program wrote it. */
export async function readBaseline(folder: OutputFolder): Promise<Baseline> {
  const run = await currentRun(folder);
  return run === undefined ? { kind: "none" } : baselineOf(folder, run);
}

/** The run in a folder of `runs/`. Throws `config.newer_version`. */
export async function baselineOf(folder: OutputFolder, run: string): Promise<Baseline> {
  const directory = join(folder.runs, run);
  try {
    const { manifest, sha256 } = await readManifestFile(directory);
    if (manifest.run === nameOf(run)) return { kind: "run", run: manifest.run, directory, manifest, sha256 };
    return { kind: "damaged", run, reason: `Its manifest is that of the run ${manifest.run}.` };
  } catch (thrown) {
    const error = asWarehouseError(thrown);
    if (error.code !== "verify.failed") throw error;
    return { kind: "damaged", run, reason: error.message };
  }
}

/** Items a page that the run before found best, by listing. */
export function pageSizesOf(baseline: Baseline): NonNullable<Manifest["pageSizes"]> {
  return baseline.kind === "run" ? (baseline.manifest.pageSizes ?? {}) : {};
}

/** Requests a second that the service allowed the run before; `null` if it refused none. */
export function rateOf(baseline: Baseline): number | null {
  return baseline.kind === "run" ? (baseline.manifest.ratePerSecond ?? null) : null;
}

/** Throws `guard.shrink` if the run before cannot be read, because then no shrink can be detected. */
export function assertComparable(baseline: Baseline, acceptShrink: boolean): void {
  if (baseline.kind !== "damaged" || acceptShrink) return;
  throw new WarehouseError(
    "guard.shrink",
    `The published run ${baseline.run} is damaged, so nothing can be compared with it; make another run current ` +
      'with "runs rollback", or run again with --accept-shrink.',
  );
}

/** Throws `config.invalid` if a folder would hold limited and full runs. */
export function assertOfOneKind(
  found: Baseline,
  { isLimited, root }: { readonly isLimited: boolean; readonly root: string },
): void {
  const kind = kindOf(found);
  if (kind === "none" || (isLimited ? kind === "limited" : kind !== "limited")) return;
  const [has, wanted] = isLimited
    ? [`has ${kind === "full" ? "full runs" : "a damaged run"}`, "this run is limited"]
    : ["has limited runs", "this run is a full one"];
  throw invalidConfig(`${root} ${has}, and ${wanted}; ${OTHER_FOLDER}.`);
}

const TABLES_NAMED = 3;

/**
 * Throws `config.invalid` if the pipeline lacks tables of the current run: readers of the warehouse would lose them.
 */
export function assertKeepsTables(
  before: Baseline,
  { name, tables }: { readonly name: string; readonly tables: readonly Table[] },
  { isAccepted, root }: { readonly isAccepted: boolean; readonly root: string },
): void {
  if (before.kind !== "run" || isAccepted) return;
  const isOneOf = (some: readonly Table[]) => (table: string) => some.some((each) => each.name === table);
  const all = Object.keys(before.manifest.rows).filter((table) => !isOneOf(RUN_TABLES)(table));
  const lacking = all.filter((table) => !isOneOf(tables)(table));
  if (lacking.length === 0) return;
  throw invalidConfig(
    `The pipeline ${name} lacks ${lacking.length} of the ${pluralize(all.length, "table")} that the current run in ${root} has ` +
      `(${joinFirst(lacking, TABLES_NAMED)}); ${OTHER_FOLDER}, or, if nobody needs these tables any more, run once with --accept-pipeline.`,
  );
}

function kindOf(found: Baseline): "none" | "damaged" | "limited" | "full" {
  if (found.kind !== "run") return found.kind;
  return found.manifest.verdict === "limited" ? "limited" : "full";
}

/**
 * `run`: a run. `moved`: a run whose operator says that the service moved. `question`: a command that asks the
 * service.
 */
export type InstanceComparison = "run" | "moved" | "question";

/** Instance that the warehouse holds; `undefined` if it holds none, or its manifest cannot be read. */
export function instanceOf(baseline: Baseline): SourceInstance | undefined {
  return baseline.kind === "run" ? baseline.manifest.instance : undefined;
}

/**
 * Throws `config.other_instance` if the warehouse holds another instance. Another address is another instance, unless
 * the service `moved` and both addresses name one ID.
 */
export function assertSameInstance(
  before: SourceInstance | undefined,
  instance: SourceInstance,
  root: string,
  comparison: InstanceComparison = "run",
): void {
  if (before === undefined) return;
  const isSame = sameInstance(before, instance);
  if (isSame && (comparison === "moved" || before.origin === instance.origin)) return;
  const otherId = !isSame && before.id !== null && instance.id !== null;
  const what = comparison === "question" ? "question" : "run";
  throw new WarehouseError(
    "config.other_instance",
    `${root} has the content of ${instanceName(before, otherId)}, and this ${what} reads ${instanceName(instance, otherId)}; ` +
      `${wayOut(comparison, before, otherId)}.`,
  );
}

const OTHER_FOLDER = "name another folder with --warehouse";

function wayOut(comparison: InstanceComparison, before: SourceInstance, otherId: boolean): string {
  if (comparison === "question")
    return "name the service that the run read, or the folder of its own warehouse with --warehouse";
  if (otherId) return `${OTHER_FOLDER}, so that the two do not mix`;
  if (comparison === "run")
    return `if the service has moved, run once with --accept-new-address, else ${OTHER_FOLDER}`;
  const unknown = before.id === null ? "the current run" : "the service";
  return `${unknown} names no single instance ID, so it is unclear whether it is the same: ${OTHER_FOLDER}`;
}

function instanceName({ id, origin }: SourceInstance, withId: boolean): string {
  const service = origin === "sample" ? "the sample" : origin;
  return withId ? `${service} (instance ${id})` : service;
}

/** How a run treats personal data. */
export interface PersonalDataTreatment {
  readonly policy: "drop" | "hash" | "keep";
  /** ID of the hash key; `null` if values are not hashed. */
  readonly keyId: string | null;
  /** IDs of the custom fields that `personalFields` names, in order. */
  readonly customFieldIds: readonly string[];
}

/**
 * Whether a run may show values of another one: it keeps personal values itself, or both treated the same fields
 * alike.
 */
export function mayShow(other: Manifest["personalData"], own: Manifest["personalData"]): boolean {
  if (own.policy === "keep") return true;
  const isKnown = own.fields === other.fields;
  return isKnown && own.policy === other.policy && own.keyId === other.keyId;
}

/**
 * Throws `config.invalid` if personal values would be hashed with another key than in the run before: a person would
 * have two hashes, and joins over runs would lose rows.
 */
export function assertSameKey(
  baseline: Baseline,
  { policy, keyId }: Omit<PersonalDataTreatment, "customFieldIds">,
  root: string,
): void {
  if (baseline.kind !== "run" || policy !== "hash") return;
  const before = baseline.manifest.personalData;
  if (before.policy !== "hash" || before.keyId === keyId) return;
  throw invalidConfig(
    `The key of CONTENT_WAREHOUSE_HASH_KEY (${keyId}) is not the one of the current run ${baseline.run} in ${root} ` +
      `(${before.keyId}), so the same person would have another hash; restore that key, or name another folder with --warehouse.`,
  );
}
