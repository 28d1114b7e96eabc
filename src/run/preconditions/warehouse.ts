/** The folder of the warehouse, and the run that is current in it. A check leaves the folder as it was. */
import { beforeEnd } from "../../common/clock.ts";
import { counted, fileSize } from "../../common/figures.ts";
import { treatmentOf } from "../../config/config.ts";
import type { PreviousHistory } from "../../load/history-previous.ts";
import type { GoesOnFrom } from "../../targets/restore.ts";
import {
  assertComparable,
  assertOfOneKind,
  assertSameKey,
  type Baseline,
  readBaseline,
} from "../../warehouse/baseline.ts";
import { assertRoom, bytesBelow, type FreeBytes, NOTHING_TAKEN, roomNeeded } from "../../warehouse/disk.ts";
import {
  discardLeftovers,
  discardUnused,
  type OutputFolder,
  prepareOutput,
  removeEmpty,
  stagingFolder,
} from "../../warehouse/layout.ts";
import { acquireLock } from "../../warehouse/lock.ts";
import { finishPublication } from "../../warehouse/publish.ts";
import { verifyRuns } from "../../warehouse/verify-run.ts";
import { historyWarnings, previousHistory } from "../previous-history.ts";
import { findInterrupted, foreignSentence, keepResumable, resumeFingerprint } from "../resume.ts";
import { assertKnownAddress } from "../source.ts";
import { type Finding, ok, warning } from "./finding.ts";
import { type Facts, type Step, step } from "./step.ts";

export const FOLDER: readonly Step[] = [
  step({
    name: "warehouse",
    needs: ["warehouse"],
    async meet({ warehouse }) {
      return { folder: await prepareOutput(warehouse) };
    },
    async *look({ folder: { root, made } }) {
      yield ok("warehouse", `${root} can be ${made.includes(root) ? "made" : "written"}`);
    },
  }),
  step({
    name: "lock",
    needs: ["folder"],
    async meet({ folder }) {
      const lock = await acquireLock(folder).catch(async (thrown: unknown) => {
        await removeEmpty(folder.made);
        throw thrown;
      });
      return { lock };
    },
    async go({ folder }) {
      await finishPublication(folder);
    },
    // A check takes long, and keeps no run from beginning.
    async *look({ folder, lock }) {
      await discardUnused(folder);
      await lock[Symbol.asyncDispose]();
      yield ok("lock", "no run is under way");
    },
  }),
  step({
    name: "current run",
    tells: [],
    needs: ["folder", "lock"],
    async meet({ folder }) {
      return { found: await readBaseline(folder) };
    },
  }),
  step({
    name: "warehouse",
    tells: [],
    needs: ["options", "folder", "found"],
    async meet({ options: { config }, folder, found }) {
      assertOfOneKind(found, { isLimited: config.limit !== null, root: folder.root });
      return {};
    },
  }),
];

export const CURRENT_RUN: readonly Step[] = [
  step({
    name: "current run",
    tells: [],
    needs: ["options", "pipeline", "folder", "targets"],
    async meet({ options, pipeline, folder, targets }) {
      const { config, clock, pipeline: source } = options;
      const fingerprint = await resumeFingerprint(config, source, pipeline);
      const startedMs = clock.now();
      const above = Math.max(0, ...targets.map(({ taken }) => taken));
      const wanted = { fingerprint, config, listings: pipeline.listings, nowMs: startedMs, above };
      return { fingerprint, startedMs, above, ...(await findInterrupted(folder, wanted)) };
    },
    async go({ options, folder, resumable, foreign }) {
      if (foreign !== null) options.log.warn(foreignSentence(foreign));
      if (resumable !== null)
        await keepResumable(stagingFolder(folder, resumable.run), resumable.resumed.files);
      await discardLeftovers(folder, resumable?.run);
    },
    async *look({ folder, resumable, foreign }) {
      if (foreign !== null) yield warning("current run", foreignSentence(foreign));
      yield { learnt: { clearable: (await bytesBelow(folder.staging)) - (resumable?.keptBytes ?? 0) } };
    },
  }),
  step({
    name: "current run",
    needs: ["options", "pipeline", "folder", "goesOnFrom"],
    async meet({ options: { config }, pipeline, folder, goesOnFrom }) {
      // After a target's run was restored it is another one.
      const latest = goesOnFrom?.baseline ?? (await readBaseline(folder));
      // A limited run is on its own.
      const baseline: Baseline = config.limit === null ? latest : { kind: "none" };
      assertComparable(baseline, config.acceptShrink);
      assertSameKey(baseline, treatmentOf(config.personalData), folder.root);
      const isHere = goesOnFrom?.isHere ?? true;
      const past: PreviousHistory = isHere
        ? await previousHistory(baseline, pipeline, folder)
        : { kind: "none" };
      return { baseline, past };
    },
    async *look({ options, folder, goesOnFrom, baseline, past }) {
      for (const sentence of historyWarnings(past)) yield warning("current run", sentence);
      if (goesOnFrom !== null) return yield ok("current run", goesOnFromText(goesOnFrom));
      if (baseline.kind === "none") yield ok("current run", "nothing is published yet");
      if (baseline.kind === "run") yield await verified(folder, options.signal);
    },
  }),
  step({
    name: "instance",
    needs: ["options", "folder", "baseline"],
    async meet({ options: { config }, folder, baseline }): Promise<Pick<Facts, "isKnownAddress">> {
      assertKnownAddress(baseline, config, folder.root);
      return { isKnownAddress: true };
    },
  }),
  step({
    name: "disk",
    needs: ["machine", "folder", "found"],
    async meet({ machine, folder: { root }, found, baseline = found, resumable, clearable = 0 }) {
      const free: FreeBytes = async (folder) => {
        const left = await machine.freeBytes(folder);
        return left && left + clearable;
      };
      const taken = resumable ? { ...resumable.resumeRecord, keptBytes: resumable.keptBytes } : NOTHING_TAKEN;
      await assertRoom(root, baseline, free, taken);
      return { taken };
    },
    async *look({ machine, folder, found, baseline = found, taken }) {
      const free = await machine.freeBytes(folder.root);
      const needed = roomNeeded(baseline, taken);
      const room = free === undefined ? "the file system does not tell" : `${fileSize(free)} free`;
      yield ok("disk", needed === undefined ? room : `${room}; a run takes up to ${fileSize(needed)}`);
    },
  }),
];

function goesOnFromText({ target, run, isHere, baseline }: GoesOnFrom): string {
  if (isHere) return `a run goes on from ${run}, to which the target ${target} was rolled back`;
  const kept = baseline.kind === "run" ? ", which keeps all of its files" : "";
  return `a run restores ${run} from the target ${target}${kept}, and goes on from it`;
}

/** Whether readers see what was published: a run does not depend on it, and takes the place of what is damaged. */
async function verified(folder: OutputFolder, signal: AbortSignal): Promise<Finding> {
  const work = verifyRuns(folder, { run: "current" }, folder.staging);
  const { runs, findings } = await beforeEnd(work, signal, 0);
  const [first] = findings;
  if (first !== undefined) {
    const more = findings.length > 1 ? ` (and ${counted(findings.length - 1, "other finding")})` : "";
    return warning(
      "current run",
      `${first}${more} Look at "content-warehouse verify", and run again, or make a run that is whole current with "runs rollback".`,
    );
  }
  const whole = runs.map(({ run, files, bytes }) => `${run}, ${counted(files, "file")}, ${fileSize(bytes)}`);
  return ok("current run", `${whole.join()}: as it was published`);
}
