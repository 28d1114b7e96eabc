/** Resuming a run that was interrupted: which one, and what of it counts. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import type { ErrorCode } from "../common/errors.ts";
import { readSealed, writeSealed } from "../common/sealed-file.ts";
import { removeAllBut } from "../common/tree.ts";
import { VERSION } from "../common/version.ts";
import { type Config, configFingerprint } from "../config/config.ts";
import { isResumable } from "../extract/extract.ts";
import { type ResumeState, readResumeState } from "../extract/landing/checkpoint.ts";
import type { Pipeline } from "../pipeline.ts";
import { RAW_COLUMNS } from "../raw/raw-file.ts";
import { bytesBelow, bytesOf } from "../warehouse/disk.ts";
import { laterRun } from "../warehouse/identity.ts";
import {
  currentRun,
  type OutputFolder,
  parseRunName,
  runsIn,
  type StagingFolder,
  stagingFolder,
  stagingLeftovers,
} from "../warehouse/layout.ts";

/**
 * What must be the same for staged work to be used again: all that decides what is asked for and what is kept of it, and
 * how. Of the pipeline, what it declares and the text of its module; what else the module imports is not looked into.
 */
export async function resumeFingerprint(
  config: Config,
  source: string | Pipeline,
  pipeline: Pipeline,
): Promise<string> {
  const parts = [
    VERSION,
    RAW_COLUMNS.map(({ name, type }) => [name, type]),
    configFingerprint(config),
    // Documents that are reused by now may be older than they are to be from here on.
    config.rereadDays,
    // What an interrupted run has read may hold somebody who was erased at the service since.
    config.reread,
    pipelineFingerprint(pipeline),
    ...(await textsOf(source, pipeline)),
  ];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** What the functions of a pipeline are made from: its module, or their own texts. */
async function textsOf(source: string | Pipeline, { rows }: Pipeline): Promise<readonly string[]> {
  if (typeof source !== "string") return Object.values(rows).map(String);
  const url = new URL(source);
  // A module that is no file has its text in its address.
  const module = url.protocol === "file:" ? await readFile(url) : "";
  return [source, createHash("sha256").update(module).digest("hex")];
}

/** Of what a pipeline declares; not of the functions of its custom tables and loaders. */
export function pipelineFingerprint({ tables, loaders, tests, rows: _rows, ...pipeline }: Pipeline): string {
  const declared = tables.map(({ name, key, columns }) => ({ name, key, columns }));
  const tested = tests.length > 0 && { tests };
  const decides = { ...pipeline, declared, loaders: loaders.map(({ name }) => name), ...tested };
  return createHash("sha256").update(JSON.stringify(decides)).digest("hex");
}

/** Form of `resume.json`. */
export const resumeRecordForm = z.strictObject({
  version: z.literal(VERSION),
  fingerprint: z.string(),
  startedMs: z.number(),
  resumedMs: z.array(z.number()),
  /** Whether it ended because it holds far less than the run before: then only explicit approval resumes it. */
  shrunk: z.boolean(),
  /** RequestLog a second that the service was found to allow when the run ended; null: it refused none. */
  ratePerSecond: z.number().positive().nullable(),
  /** IDs of the custom fields that were treated as personal, in order. */
  personalFieldIds: z.array(z.string()),
  /** The most that it took up on the disk. */
  peakBytes: z.number().nonnegative(),
});

/** How a run began. Instants are milliseconds since 1970, by this machine's clock. */
export type ResumeRecord = Readonly<Omit<z.infer<typeof resumeRecordForm>, "version">>;

export async function writeResumeRecord(staging: StagingFolder, begun: ResumeRecord): Promise<void> {
  await writeSealed(staging.resumeRecord, { version: VERSION, ...begun });
}

/** Staged work that is older is not used again: too much may have changed since. */
const RESUMABLE_MS = 6 * 60 * 60 * 1000;

export interface ResumableRun {
  readonly run: string;
  readonly resumeRecord: ResumeRecord;
  readonly kept: ResumeState;
  readonly keptBytes: number;
}

const NO_RUN = { resumable: null, foreign: null };

/**
 * The latest run that was interrupted, if it can be resumed: of the same configuration, begun less than six hours ago,
 * later than all that is published or delivered, and with sound staged work. `foreign`: the name of a run that another
 * program, configuration or pipeline began, as far as its record tells; none of it is used. `nowMs`: milliseconds since
 * 1970; `above`: number of the last run that a target has. Changes nothing.
 */
export async function findInterrupted(
  folder: OutputFolder,
  wanted: Readonly<{ fingerprint: string; config: Config; nowMs: number; above: number }>,
) {
  const { fingerprint, config, nowMs, above } = wanted;
  // What a limited run has read, another one has read again as soon.
  if (config.limit !== null) return NO_RUN;
  const [latest] = await stagingLeftovers(folder);
  if (latest === undefined || latest.sequence <= above) return NO_RUN;
  const current = parseRunName((await currentRun(folder)) ?? "");
  const published = [...(await runsIn(folder)), ...(current ? [current] : [])];
  if (!published.every((each) => laterRun(latest, each))) return NO_RUN;
  const { run } = latest;
  const staging = stagingFolder(folder, run);
  const path = staging.resumeRecord;
  const resumeRecord = await readSealed(path, resumeRecordForm);
  if (resumeRecord === undefined) return existsSync(path) ? { resumable: null, foreign: run } : NO_RUN;
  // A clock that was set back since tells nothing about the age.
  const ageMs = nowMs - resumeRecord.startedMs;
  const isOfAge = ageMs >= 0 && ageMs < RESUMABLE_MS;
  if (!isOfAge || (resumeRecord.shrunk && !config.acceptShrink)) return NO_RUN;
  if (resumeRecord.fingerprint !== fingerprint) return { resumable: null, foreign: run };
  const kept = await readResumeState(staging.root);
  if (kept.groups.length === 0) return NO_RUN;
  const sizes = await Promise.all([path, ...kept.files].map(bytesOf));
  const keptBytes = sizes.reduce((sum, bytes) => sum + bytes, 0);
  return { resumable: { run, resumeRecord, kept, keptBytes }, foreign: null };
}

export function foreignSentence(run: string): string {
  return `Nothing of the interrupted run ${run} is used: it was begun by another version of the program, or with another configuration, pipeline or options, or its record cannot be read.`;
}

/** Removes all staged files that a resumed run does not go on from. Bytes of what is kept. */
export async function keepResumable(staging: StagingFolder, files: ReadonlySet<string>): Promise<number> {
  await removeAllBut(staging.root, new Set([...files, staging.resumeRecord]));
  return bytesBelow(staging.root);
}

/** What becomes of staged work. `accept`: explicit approval resumes it. `inspect`: it is kept until the next run. */
export function failureDisposition(code: ErrorCode): "resume" | "accept" | "inspect" | "remove" {
  if (code === "verify.failed" || code === "audit.threshold") return "inspect";
  if (code === "guard.shrink") return "accept";
  return isResumable(code) ? "resume" : "remove";
}
