/** Builds runs again from their raw documents, and puts them in the place of the old ones, all together. */
import { join } from "node:path";
import { WarehouseError } from "../../common/errors.ts";
import { printable } from "../../common/printable.ts";
import { VERSION } from "../../common/version.ts";
import type { Wishes } from "../../config/config.ts";
import type { Pipeline } from "../../pipeline.ts";
import type { ExtractRecord } from "../../raw/extract-record.ts";
import { lookupsIn, readFacts } from "../../raw/read-raw.ts";
import { loadPipeline } from "../../transform/pipelines.ts";
import { assertRawWhole } from "../../warehouse/raw-documents.ts";
import { numberAnew, type Replaceable, withDescendants } from "../../warehouse/replacement/numbers.ts";
import { clearStaging, replaceable, replaceRuns, replacing } from "../../warehouse/replacement/replace.ts";
import { hasHistory } from "../previous-history.ts";
import { pipelineFingerprint } from "../resume.ts";
import { missingFor } from "./missing.ts";
import { moduleOf } from "./rebuild.ts";
import { type Plan, Renewing, type ReplayedRun, type ReplayRequest } from "./renewing.ts";

/**
 * Builds a run and all that go on from it anew, without a request and as they were built in their nights: held against
 * the run before, by the limits and with what was accepted then. They take the places of the old ones with later
 * numbers; what is left of an interrupted run goes. Needs the lock. No loader of a user's own is told.
 *
 * Throws `config.not_found` for a run without raw documents or of an older program, `config.invalid` where the pipeline
 * needs what was not asked for or the policy gave away, `verify.failed` where a raw file is damaged or the history cannot
 * be carried on, and what `build` throws: then every run is as it was.
 */
export async function replayRuns(request: ReplayRequest): Promise<readonly ReplayedRun[]> {
  const { folder, run: wanted, freeBytes, onStep } = request;
  return replacing(folder, async ({ runs: kept, temporary }) => {
    const runs = kept
      .map((each) => (each.sequence < wanted.sequence ? each : replaceable(each)))
      .filter(isReadable);
    const run = runs.find(({ directory }) => directory === wanted.directory);
    if (run === undefined)
      throw new WarehouseError("config.not_found", `Run ${wanted.run} is gone; name another.`);
    const replaced = await withDescendants(run, runs, temporary);
    const pipelines = new Map<Replaceable, Pick<Plan, "pipeline" | "url">>();
    for (const each of replaced) {
      onStep({ kind: "prove", run: each.run });
      pipelines.set(each, await pipelineFor(each, request));
    }
    const planned = (await numberAnew(folder, { replaced, runs }, temporary)).flatMap((numbered): Plan[] => {
      const by = pipelines.get(numbered.from);
      return by === undefined ? [] : [{ ...numbered, ...by }];
    });
    await clearStaging(folder);
    const renewing = new Renewing(request, runs, planned);
    await replaceRuns(folder, planned, {
      make: (each, staging) => renewing.make(each, staging),
      freeBytes,
      noRoom: (room) =>
        `the runs that are built again take ${room}; nothing was replaced: free space or remove old runs with "runs prune", and replay again`,
      onStep,
    });
    return planned.map(({ from, to }) => ({
      run: from.run,
      replacedBy: to,
      current: from.current,
      ...renewing.told(to),
    }));
  });
}

function isReadable(run: { readonly manifest: unknown }): run is Replaceable {
  return !(run.manifest instanceof WarehouseError);
}

/** Throws where the run cannot be built by it. */
async function pipelineFor(
  run: Replaceable,
  { pipelineUrl, wishes }: ReplayRequest,
): Promise<Pick<Plan, "pipeline" | "url">> {
  await assertRawWhole(run, run.directory);
  const raw = join(run.directory, "raw");
  const facts = await readFacts(raw);
  assertKept(run, facts, wishes);
  const url = pipelineUrl ?? moduleOf(facts);
  const pipeline = await loadPipeline(url);
  assertHistory(run, facts, pipeline);
  if (pipelineFingerprint(pipeline) === facts.pipeline.fingerprint) return { pipeline, url };
  // Columns that a newer program knows besides were not asked for by any run: they are empty in those before it.
  const isUpgrade = pipelineUrl === null && run.manifest.versions.package !== VERSION;
  const { columns, aliases } = isUpgrade ? facts.asked : wishes;
  const missing = missingFor(pipeline, { ...wishes, columns, aliases }, { facts, lookups: lookupsIn(raw) });
  if (missing.length === 0) return { pipeline, url };
  throw new WarehouseError(
    "config.invalid",
    `The pipeline "${printable(pipeline.name)}" needs what run ${run.run} did not ask for: ${printable(missing.join("; "), 1000)}; replay it with a pipeline and a configuration that need no more.`,
  );
}

/** What a run carried on of the history would be gone with it. */
function assertHistory(run: Replaceable, facts: ExtractRecord, pipeline: Pipeline): void {
  if (facts.history.kind !== "carried" || hasHistory(pipeline)) return;
  throw new WarehouseError(
    "config.invalid",
    `The pipeline "${printable(pipeline.name)}" has no history, and that of run ${run.run} would be lost; replay it with a pipeline that has history().`,
  );
}

function assertKept(run: Replaceable, facts: ExtractRecord, { policy: wanted }: Wishes): void {
  const { policy } = facts.personalData;
  if (wanted !== "keep" || policy === "keep") return;
  throw new WarehouseError(
    "config.invalid",
    `The documents of run ${run.run} were kept with \`personalData: "${policy}"\`, and the configuration says "keep": what is not there cannot be kept; replay with "${policy}".`,
  );
}
