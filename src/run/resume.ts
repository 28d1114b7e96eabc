/** Taking up a run that was ended early: which one, and what of it counts. */
import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { ErrorCode } from "../common/errors.ts";
import type { Pipeline } from "../pipeline.ts";
import { CHECKPOINT_VERSION } from "../extract/landing/checkpoint-form.ts";
import { type Config, configFingerprint } from "../config/config.ts";
import {
  currentRun,
  type OutputFolder,
  parseRunName,
  runsIn,
  type StagingFolder,
  stagingFolder,
  stagingLeftovers,
} from "../warehouse/layout.ts";
import { type Kept, readKept } from "../extract/landing/resume-state.ts";
import { RAW_COLUMNS } from "../raw/raw-file.ts";
import { RawFiles, rawFolder } from "./raw-files.ts";
import { readSealed, writeSealed } from "../common/sealed-file.ts";
import { removeAllBut } from "../common/tree.ts";

/**
 * What must be the same for staged work to be used again: all that decides what is asked for and what is kept of it, and
 * how. Of the pipeline, what it declares and the text of its module; what else the module imports is not looked into.
 */
export async function resumeFingerprint(
  config: Config,
  pipelineUrl: string,
  pipeline: Pipeline,
): Promise<string> {
  const url = new URL(pipelineUrl);
  // A module that is no file has its text in its address.
  const module = url.protocol === "file:" ? await readFile(url) : "";
  const parts = [
    CHECKPOINT_VERSION,
    RAW_COLUMNS.map(({ name, type }) => [name, type]),
    configFingerprint(config),
    pipelineUrl,
    pipelineFingerprint(pipeline),
    createHash("sha256").update(module).digest("hex"),
  ];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** Of what a pipeline declares; not of the functions of its own tables. */
export function pipelineFingerprint({ name, listings, load, passthrough, tables }: Pipeline): string {
  const declared = tables.map(({ name, key, columns }) => ({ name, key, columns }));
  const decides = { name, listings, load, passthrough, declared };
  return createHash("sha256").update(JSON.stringify(decides)).digest("hex");
}

/** Form of `resume.json`. */
export const beginningForm = z.strictObject({
  version: z.literal(CHECKPOINT_VERSION),
  fingerprint: z.string(),
  startedMs: z.number(),
  resumedMs: z.array(z.number()),
  shrunk: z.boolean(),
  ratePerSecond: z.number().positive().nullable(),
});

/** How a run began. Instants are milliseconds since 1970, by this machine's clock. */
export interface Beginning {
  readonly fingerprint: string;
  readonly startedMs: number;
  /** When it was taken up again. */
  readonly resumedMs: readonly number[];
  /** Whether it ended because it holds far less than the run before: then only a person's word goes on with it. */
  readonly shrunk: boolean;
  /** Requests a second that the service was found to allow when the run ended; null: it refused none. */
  readonly ratePerSecond: number | null;
}

function beginningFile(staging: StagingFolder): string {
  return join(staging.root, "resume.json");
}

export async function writeBeginning(staging: StagingFolder, begun: Beginning): Promise<void> {
  await writeSealed(beginningFile(staging), { version: CHECKPOINT_VERSION, ...begun });
}

/** Notes that a run ended because it holds far less than the run before. */
export async function markShrunk(staging: StagingFolder, begun: Beginning): Promise<void> {
  await writeBeginning(staging, { ...begun, shrunk: true });
}

/** Leaves staged files for a person to look into; no run goes on from them. */
export async function keepForInspection(staging: StagingFolder): Promise<void> {
  await rm(beginningFile(staging), { force: true });
}

/** Staged work that is older is not used again: too much may have changed since. */
const RESUMABLE_MS = 6 * 60 * 60 * 1000;

/** A run that is taken up. */
export interface TakenUp {
  readonly run: string;
  readonly beginning: Beginning;
  readonly kept: Kept;
}

export interface Wanted {
  readonly fingerprint: string;
  readonly config: Config;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/**
 * The latest run that was ended early, if it can be taken up: of the same configuration, begun less than six hours ago,
 * later than all that is published, and with staged work that is sound. Changes nothing. Only with the lock held.
 */
export async function findResumable(folder: OutputFolder, wanted: Wanted): Promise<TakenUp | undefined> {
  const [latest] = await stagingLeftovers(folder);
  if (latest === undefined) return undefined;
  const current = parseRunName((await currentRun(folder)) ?? "");
  const published = [...(await runsIn(folder)), ...(current ? [current] : [])];
  if (published.some(({ sequence }) => sequence >= latest.sequence)) return undefined;
  const { run, sequence } = latest;
  const staging = stagingFolder(folder, run);
  const found = await readSealed(beginningFile(staging), beginningForm);
  if (found === undefined || !fits(found, wanted)) return undefined;
  const raw = new RawFiles({ directory: staging.root, folder: rawFolder(wanted.config), sequence });
  const kept = await readKept(staging.root, raw);
  return kept.dynamic === undefined ? undefined : { run, beginning: found, kept };
}

/** A clock that was set back since tells nothing about the age. */
function fits(found: Beginning, { fingerprint, config, nowMs }: Wanted): boolean {
  const ageMs = nowMs - found.startedMs;
  const accepted = !found.shrunk || config.acceptShrink;
  return accepted && found.fingerprint === fingerprint && ageMs >= 0 && ageMs < RESUMABLE_MS;
}

/** Removes all staged files that do not count, and notes that the run is taken up. */
export async function takeUp(staging: StagingFolder, taken: TakenUp, nowMs: number): Promise<Beginning> {
  const { beginning, kept } = taken;
  await removeAllBut(staging.root, new Set([...kept.files, beginningFile(staging)]));
  const begun = { ...beginning, resumedMs: [...beginning.resumedMs, nowMs] };
  await writeBeginning(staging, begun);
  return begun;
}

/** Failures after which the same run may go on: they say nothing against what was staged. */
const TO_BE_RESUMED: ReadonlySet<ErrorCode> = new Set([
  "run.interrupted",
  "run.terminated",
  "source.credentials",
  "source.unreachable",
  "source.timeout",
  "source.unavailable",
  "source.damaged",
]);

/**
 * What becomes of staged work: taken up by the next run, by the next one with a person's word, kept to be looked into
 * until then, or removed.
 */
export function afterFailure(code: ErrorCode): "resume" | "accept" | "inspect" | "remove" {
  if (code === "verify.failed") return "inspect";
  if (code === "guard.shrink") return "accept";
  return TO_BE_RESUMED.has(code) ? "resume" : "remove";
}
