/** Resumes an interrupted run: which run it is, and which of its answers count. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { readSealed } from "../common/sealed-file.ts";
import { VERSION } from "../common/version.ts";
import { configFingerprint } from "../config/config.ts";
import { type ResumeState, readResumeState } from "../extract/landing/checkpoint.ts";
import type { Pipeline } from "../pipeline.ts";
import { RAW_COLUMNS } from "../raw/raw-file.ts";
import { bytesBelow, bytesOf } from "../warehouse/disk.ts";
import { isLaterRun } from "../warehouse/identity.ts";
import {
  currentRun,
  type OutputFolder,
  parseRunName,
  runsIn,
  type StagingFolder,
  stagingFolder,
  stagingLeftovers,
} from "../warehouse/layout.ts";
import type { RunInputs } from "./inputs.ts";

/**
 * Digest of all that decides what a run requests and how documents are treated. A run resumes staged work of an equal
 * fingerprint only. Of modules that a pipeline imports only what they declare is part of it.
 */
async function fingerprintOf(
  { config, pipeline: source }: Pick<RunInputs, "config" | "pipeline">,
  pipeline: Pipeline,
): Promise<string> {
  const isFile = typeof source === "string" && source.startsWith("file:");
  const parts = [
    VERSION,
    RAW_COLUMNS.map(({ name, type }) => [name, type]),
    configFingerprint(config),
    // Reused documents may be older than the new setting allows.
    config.rereadDays,
    // The interrupted run may have read a person who was erased at the service since.
    config.reread,
    // A module that is not a file has its text in its URL.
    ...(typeof source === "string" ? [source, isFile ? await readFile(new URL(source), "utf8") : ""] : []),
    { ...pipeline, loaders: pipeline.loaders.map(({ name }) => name) },
  ];
  const text = JSON.stringify(parts, (_, value) => (typeof value === "function" ? String(value) : value));
  return createHash("sha256").update(text).digest("hex");
}

/** Form of `resume.json`. */
const resumeRecordForm = z.strictObject({
  fingerprint: z.string(),
  startedMs: z.number(),
  resumedMs: z.array(z.number()),
  /** The run ended because it shrank too much. Only `--accept-shrink` resumes it. */
  shrunk: z.boolean(),
  /** Requests a second that the service allowed when the run ended; `null` if it refused none. */
  ratePerSecond: z.number().positive().nullable(),
  /** IDs of the personal custom fields, in order. */
  personalFieldIds: z.array(z.string()),
  /** Peak disk use so far. */
  peakBytes: z.number().nonnegative(),
});

/** How a run began. Times are milliseconds since 1970, by this machine's clock. */
export type ResumeRecord = Readonly<z.infer<typeof resumeRecordForm>>;

/** Older staged work is not resumed, because too much may have changed. */
export const RESUMABLE_HOURS = 6;

export interface ResumableRun {
  readonly run: string;
  readonly resumeRecord: ResumeRecord;
  readonly kept: ResumeState;
  readonly keptBytes: number;
}

/**
 * The latest interrupted run, if it can be resumed. It has the same fingerprint, began less than six hours ago, is
 * later than every published or delivered run, and its staged work is undamaged. `problem`: sentence on why an
 * interrupted run is not resumed; `null` if it is, or there is none. `fingerprint`: that of the new run. `nowMs`:
 * milliseconds since 1970. `above`: last run number of a target. Changes nothing.
 */
export async function findInterrupted(
  folder: OutputFolder,
  inputs: Pick<RunInputs, "config" | "pipeline">,
  { pipeline, nowMs, above }: Readonly<{ pipeline: Pipeline; nowMs: number; above: number }>,
) {
  const { config } = inputs;
  const fingerprint = await fingerprintOf(inputs, pipeline);
  const none = { fingerprint, resumable: null, problem: null };
  // Another limited run reads the same few items as fast.
  if (config.limit !== null) return none;
  const [latest] = await stagingLeftovers(folder);
  if (latest === undefined || latest.sequence <= above) return none;
  const current = parseRunName((await currentRun(folder)) ?? "");
  const published = [...(await runsIn(folder)), ...(current ? [current] : [])];
  if (!published.every((each) => isLaterRun(latest, each))) return none;
  const { run } = latest;
  const staging = stagingFolder(folder, run);
  const path = staging.resumeRecord;
  const because = (clause: string) => ({
    ...none,
    problem: `The interrupted run ${run} is not resumed: ${clause}.`,
  });
  const isForeign = because(
    "it was started by another version of the program, or with another configuration, pipeline or options, or its record cannot be read",
  );
  const resumeRecord = await readSealed(path, resumeRecordForm);
  if (resumeRecord === undefined) return existsSync(path) ? isForeign : none;
  // If the clock was set back, the age is unknown.
  const ageMs = nowMs - resumeRecord.startedMs;
  const isOfAge = ageMs >= 0 && ageMs < RESUMABLE_HOURS * 3_600_000;
  if (!isOfAge || (resumeRecord.shrunk && !config.acceptShrink)) return none;
  if (resumeRecord.fingerprint !== fingerprint) return isForeign;
  const kept = await readResumeState(staging.root);
  if (kept.groups.length === 0)
    return because("nothing that it read was saved, so this run starts from the beginning");
  const sizes = await Promise.all([path, ...kept.files].map(bytesOf));
  const keptBytes = sizes.reduce((sum, bytes) => sum + bytes, 0);
  return { ...none, resumable: { run, resumeRecord, kept, keptBytes } };
}

/** Removes all staged files that a resumed run does not need. Returns the bytes that are kept. */
export async function keepResumable(staging: StagingFolder, files: ReadonlySet<string>): Promise<number> {
  await removeAllBut(staging.root, new Set([...files, staging.resumeRecord]));
  return bytesBelow(staging.root);
}

/** Removes everything below a folder except the files `kept`, by absolute path, and their folders. */
async function removeAllBut(folder: string, kept: ReadonlySet<string>): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (kept.has(path)) continue;
    if (!entry.isDirectory()) {
      await rm(path);
      continue;
    }
    await removeAllBut(path, kept);
    if ((await readdir(path)).length === 0) await rmdir(path);
  }
}
