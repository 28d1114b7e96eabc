/** The baseline of a run: the published run that it is compared with and continues. */
import { join } from "node:path";
import { asWarehouseError, invalidConfig, WarehouseError } from "../common/errors.ts";
import { pluralize } from "../common/figures.ts";
import { joinFirst, joinWords } from "../common/nearest.ts";
import type { RunAsked } from "../raw/extract-record.ts";
import { RUN_TABLES } from "../tables/all.ts";
import type { Table } from "../tables/declare.ts";
import { instanceText, sameInstance } from "./identity.ts";
import { currentRun, DATABASE_FILE, nameOf, type OutputFolder } from "./layout.ts";
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
  if (found.kind === "none") return;
  const hasLimited = found.kind === "run" && found.manifest.verdict === "limited";
  if (hasLimited === isLimited) return;
  const [has, wanted] = isLimited ? ["full", "limited"] : ["limited", "a full one"];
  throw invalidConfig(`${root} has ${has} runs, and this run is ${wanted}; ${OTHER_FOLDER}.`);
}

/** What readers of each format lose. */
const FORMATS = { duckdb: `the database ${DATABASE_FILE}`, parquet: "the Parquet files" } as const;

/**
 * Throws `config.invalid` if the pipeline lacks tables, the database or the Parquet files of the current run: readers of
 * the warehouse would lose them.
 */
export function assertKeepsTables(
  before: Baseline,
  {
    name,
    tables,
    loaders,
  }: {
    readonly name: string;
    readonly tables: readonly Table[];
    readonly loaders: readonly { readonly publishes?: keyof typeof FORMATS }[];
  },
  { isAccepted, root }: { readonly isAccepted: boolean; readonly root: string },
): void {
  if (before.kind !== "run" || isAccepted) return;
  const isOneOf = (some: readonly Table[]) => (table: string) => some.some((each) => each.name === table);
  const all = Object.keys(before.manifest.rows).filter((table) => !isOneOf(RUN_TABLES)(table));
  const lacking = all.filter((table) => !isOneOf(tables)(table));
  const formats = before.manifest.loaders.filter(
    (format) => !loaders.some(({ publishes }) => publishes === format),
  );
  const parts: string[] = formats.map((format) => FORMATS[format]);
  if (lacking.length > 0) parts.push(`${lacking.length} of the ${pluralize(all.length, "table")}`);
  if (parts.length === 0) return;
  const examples = lacking.length === 0 ? "" : ` (${joinFirst(lacking, 3)})`;
  throw invalidConfig(
    `The pipeline ${name} lacks ${joinWords(parts, "and")} that the current run in ${root} has${examples}; ` +
      `${OTHER_FOLDER}, or, if nobody needs them any more, run once with --accept-pipeline.`,
  );
}

/** Instance that the warehouse holds; `undefined` if it holds none, or its manifest cannot be read. */
export function instanceOf(baseline: Baseline): Manifest["instance"] | undefined {
  return baseline.kind === "run" ? baseline.manifest.instance : undefined;
}

/**
 * Throws `config.other_instance` if the warehouse holds another instance. Another address is another instance, unless
 * `acceptsMove` and both addresses name one ID.
 */
export function assertSameInstance(
  before: Manifest["instance"] | undefined,
  instance: Manifest["instance"],
  root: string,
  acceptsMove: boolean,
): void {
  if (before === undefined) return;
  const isSame = sameInstance(before, instance);
  if (isSame && (acceptsMove || before.origin === instance.origin)) return;
  const isOtherId = !isSame && before.id !== null && instance.id !== null;
  const unclear = acceptsMove
    ? "one of them names no single instance ID, so it is unclear whether they are the same: "
    : "if the service has moved, run once with --accept-new-address, else ";
  throw new WarehouseError(
    "config.other_instance",
    `${root} has the content of ${instanceText(before)}, and this run reads ${instanceText(instance)}; ` +
      `${isOtherId ? "" : unclear}${OTHER_FOLDER}.`,
  );
}

const OTHER_FOLDER = "name another folder with --warehouse";

/**
 * Whether a run may show values of another one: it keeps personal values itself, or both treated the same fields
 * alike.
 */
export function mayShow(other: RunAsked, own: RunAsked): boolean {
  const { policy, keyId } = own.personalData;
  if (policy === "keep") return true;
  const namesSame = own.documentSettings.personalFields === other.documentSettings.personalFields;
  return namesSame && policy === other.personalData.policy && keyId === other.personalData.keyId;
}

/**
 * Throws `config.invalid` if personal values would be hashed with another key than in the run before: a person would
 * have two hashes, and joins over runs would lose rows.
 */
export function assertSameKey(
  baseline: Baseline,
  { policy, keyId }: Pick<RunAsked["personalData"], "policy" | "keyId">,
  root: string,
): void {
  if (baseline.kind !== "run" || policy !== "hash") return;
  const before = baseline.manifest.asked.personalData;
  if (before.policy !== "hash" || before.keyId === keyId) return;
  throw invalidConfig(
    `The key of CONTENT_WAREHOUSE_HASH_KEY (${keyId}) is not the one of the current run ${baseline.run} in ${root} ` +
      `(${before.keyId}), so the same person would have another hash; restore that key, or name another folder with --warehouse.`,
  );
}
