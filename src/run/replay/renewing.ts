/** Makes the runs that take the places of others, one after another: each is held against the one made before it. */

import { join } from "node:path";
import { warningText } from "../../audit/checks/checks.ts";
import type { ReadableRun } from "../../audit/open-run.ts";
import { WarehouseError } from "../../common/errors.ts";
import { counted } from "../../common/figures.ts";
import { collectGarbage } from "../../common/gc.ts";
import { removeTree } from "../../common/tree.ts";
import { VERSION } from "../../common/version.ts";
import type { Wishes } from "../../config/config.ts";
import type { PreviousHistory } from "../../load/history-previous.ts";
import type { Pipeline } from "../../pipeline.ts";
import { EXTRACT_FILE, type ExtractRecord, writeExtractRecord } from "../../raw/extract-record.ts";
import { readFacts, readRaw } from "../../raw/read-raw.ts";
import { RawRenewal } from "../../raw/renew.ts";
import { pipelineModule } from "../../transform/pipelines.ts";
import type { Baseline, Before } from "../../warehouse/baseline.ts";
import type { FreeBytes } from "../../warehouse/disk.ts";
import { runNamed, withPast } from "../../warehouse/identity.ts";
import type { OutputFolder } from "../../warehouse/layout.ts";
import { createStaging, databaseOf, parseRunName, type StagingFolder } from "../../warehouse/layout.ts";
import { readManifestFile, writeManifest } from "../../warehouse/manifest.ts";
import { rawDocumentsOf } from "../../warehouse/raw-documents.ts";
import { replacementPlace } from "../../warehouse/replacement/commit.ts";
import type { NewNames, Numbered, Replaceable } from "../../warehouse/replacement/numbers.ts";
import { renumbered } from "../../warehouse/replacement/renamed.ts";
import type { OnReplaceStep } from "../../warehouse/replacement/replace.ts";
import { verifyResult } from "../../warehouse/verify.ts";
import { type Built, build } from "../build.ts";
import type { Building } from "../building.ts";
import { statedBefore, statedHistory } from "../facts.ts";
import { heldAgainst, heldAgainstRun } from "../previous-history.ts";
import { pipelineFingerprint } from "../resume.ts";
import { StagedLoads } from "../stage-loads.ts";
import { clockOf } from "./rebuild.ts";

export interface ReplayRequest
  extends Pick<Building, "threads" | "nodeVersion" | "signal" | "onProgress" | "log"> {
  readonly folder: OutputFolder;
  readonly run: ReadableRun;
  /** URL of the pipeline that the runs are built by; null: each by that of its night. */
  readonly pipelineUrl: string | null;
  readonly wishes: Wishes;
  readonly freeBytes: FreeBytes;
  readonly onStep: OnReplaceStep;
}

export interface ReplayedRun {
  readonly run: string;
  readonly replacedBy: string;
  /** Whether readers see the run that took its place. */
  readonly current: boolean;
  readonly tables: number;
  readonly warnings: readonly string[];
}

/** With what a run is built again. */
export interface Plan extends Numbered {
  readonly pipeline: Pipeline;
  readonly url: string;
}

type RunBefore = Extract<Baseline, { kind: "run" }>;

/** What a run is held against, and what it states of that. */
interface Held {
  readonly before: Before;
  readonly history: PreviousHistory;
  readonly stated: Pick<ExtractRecord, "before" | "history">;
}

export class Renewing {
  readonly #request: ReplayRequest;
  readonly #runs: readonly Replaceable[];
  readonly #planned: readonly Plan[];
  /** By the run whose place they take. */
  readonly #made = new Map<Replaceable, Replaceable>();
  readonly #told = new Map<string, Pick<ReplayedRun, "tables" | "warnings">>();

  /** `runs`: of the folder, the oldest first; those that are replaced are among them. */
  constructor(request: ReplayRequest, runs: readonly Replaceable[], planned: readonly Plan[]) {
    this.#request = request;
    this.#runs = runs;
    this.#planned = planned;
  }

  /** Of a run that was made. */
  told(run: string): Pick<ReplayedRun, "tables" | "warnings"> {
    return this.#told.get(run) ?? { tables: 0, warnings: [] };
  }

  /** Makes all of the run, its manifest as the last file. */
  async make(plan: Plan, staging: StagingFolder): Promise<void> {
    const { from, to } = plan;
    await createStaging(this.#request.folder, to, replacementPlace(this.#request.folder));
    const renewal = await this.#copyRaw(plan, staging);
    const facts = await readFacts(join(from.directory, "raw"));
    const held = await this.#heldAgainst(plan, facts);
    const { version: _version, ...stated } = facts;
    await writeExtractRecord(join(staging.result, "raw", EXTRACT_FILE), {
      ...stated,
      ...held.stated,
      drift: renewal.drift(facts.drift),
      pipeline: {
        name: plan.pipeline.name,
        module: pipelineModule(plan.url),
        fingerprint: pipelineFingerprint(plan.pipeline),
      },
    });
    const built = await this.#build(plan, staging, held);
    await this.#finish(plan, staging, built);
    const warnings = [...droppedWarnings(renewal.dropped), ...built.warnings.map(warningText)];
    this.#told.set(to, { tables: built.tables.length, warnings });
    // Else what it was built with stays beside what the next one takes.
    collectGarbage();
  }

  async #copyRaw({ from, renamed }: Plan, staging: StagingFolder): Promise<RawRenewal> {
    const { versions, personalData } = from.manifest;
    const policyThen = versions.package === VERSION ? null : personalData.policy;
    const renewal = new RawRenewal({ renamed, policyThen });
    for (const { path } of rawDocumentsOf(from)) {
      this.#request.signal.throwIfAborted();
      const target = join(staging.result, renumbered(path, from.sequence, staging.sequence));
      await renewal.copy(join(from.directory, path), target);
    }
    return renewal;
  }

  async #heldAgainst({ from, pipeline, renamed }: Plan, facts: ExtractRecord): Promise<Held> {
    const { folder } = this.#request;
    const kept = this.#keptBefore(from, facts);
    const held =
      kept === undefined
        ? await heldAgainst(facts, {
            own: from,
            kept,
            pipeline,
            renamed,
            temporaryDirectory: replacementPlace(folder),
          })
        : await heldAgainstRun(kept, { facts, pipeline, folder });
    assertCarriedOn(from, facts, held.history);
    const before = kept === undefined ? namedAnew(facts.before, renamed) : statedBefore(kept);
    return { ...held, stated: { before, history: statedHistory(held.history) } };
  }

  /** The run before: the one that was made of it, or it itself. */
  #keptBefore(from: Replaceable, { before }: ExtractRecord): RunBefore | undefined {
    if (before.kind !== "run") return undefined;
    const found = runNamed(before.run, this.#runs, withPast(from, this.#runs));
    const run = found && (this.#made.get(found) ?? found);
    if (run?.sha256 === undefined) return undefined;
    const { directory, manifest, sha256 } = run;
    return { kind: "run", run: manifest.run, directory, manifest, sha256 };
  }

  async #build(
    { from, pipeline, url }: Plan,
    staging: StagingFolder,
    { before, history }: Held,
  ): Promise<Built> {
    const { folder, threads, nodeVersion, signal, onProgress, log } = this.#request;
    await using loads = new StagedLoads([]);
    return await build({
      folder,
      runs: async () => this.#beside(),
      staging,
      landed: await readRaw(join(staging.result, "raw")),
      pipeline,
      pipelineUrl: url,
      before,
      history,
      ranges: from,
      replayOf: from.manifest.run,
      isErased: from.manifest.erasedAt !== undefined,
      loads,
      threads,
      nodeVersion,
      signal,
      onProgress,
      onEvent: () => {},
      clock: await clockOf(from, staging),
      log,
      measure: async () => {},
    });
  }

  /** The runs as they will be, the newest first. */
  #beside(): Replaceable[] {
    const left = this.#runs.filter((run) => !this.#planned.some(({ from }) => from === run));
    return [...left, ...this.#made.values()].toSorted((a, b) => b.sequence - a.sequence);
  }

  /** Start and end stay those of the night. */
  async #finish({ from, to }: Plan, staging: StagingFolder, { statement }: Built): Promise<void> {
    const { endedAt, peakBytes, erasedAt, run: supersedes } = from.manifest;
    const files = await verifyResult({
      result: staging.result,
      database: databaseOf(staging, statement.loaders.includes("duckdb")),
      temporaryDirectory: staging.temporary,
      stated: statement,
    });
    for (const path of [staging.temporary, staging.parts]) await removeTree(path);
    const besides = {
      ...(peakBytes !== undefined && { peakBytes }),
      ...(erasedAt !== undefined && { erasedAt }),
    };
    await writeManifest(staging.result, { ...statement, ...besides, endedAt, supersedes }, files);
    const { manifest, sha256 } = await readManifestFile(staging.result);
    const { startedAt = from.startedAt, sequence = staging.sequence } = parseRunName(to) ?? {};
    const directory = staging.result;
    const standing = { current: false, latest: false, pinnedSince: null };
    this.#made.set(from, { run: to, sequence, startedAt, directory, ...standing, manifest, sha256 });
  }
}

/** Throws where what the run carried on of the history would be lost. */
function assertCarriedOn(from: Replaceable, facts: ExtractRecord, history: PreviousHistory): void {
  if (facts.history.kind !== "carried" || history.kind !== "anew") return;
  throw new WarehouseError(
    "verify.failed",
    `The history that run ${from.run} carried on cannot be carried on again, because ${history.reason}; nothing was replaced: replay the runs before it too, or leave it as it is.`,
  );
}

function namedAnew(before: ExtractRecord["before"], renamed: NewNames): ExtractRecord["before"] {
  const now = before.kind === "none" ? undefined : renamed.get(before.run);
  if (before.kind === "none" || now === undefined) return before;
  return before.kind === "run" ? { ...before, run: now, sha256: null } : { ...before, run: now };
}

function droppedWarnings(dropped: ReadonlyMap<string, number>): string[] {
  const total = [...dropped.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return [];
  return [
    `${counted(total, "personal value")} that the program did not know as personal that night were dropped, of ${[...dropped.keys()].toSorted().join(", ")}.`,
  ];
}
