/** The transform of a run, and how its tables are to be loaded. */
import { collectGarbage } from "../common/gc.ts";
import { rangeBounds, vectorBytes } from "../load/range-bounds.ts";
import type { Pipeline } from "../pipeline.ts";
import type { ExtractRecord } from "../raw/extract-record.ts";
import type { Bounds } from "../storage/id-ranges.ts";
import { type Transformed, transformItems } from "../transform/transform-items.ts";
import type { StagingFolder } from "../warehouse/layout.ts";
import type { RunContext, RunOptions } from "./context.ts";
import type { Extracted, Landed } from "./run-extraction.ts";

export interface RunTransformed extends Transformed {
  /** Of the ranges of items that the widest table is loaded by. */
  readonly bounds: Bounds;
  /** Of the widest table: what the database holds at once, roughly. */
  readonly vectorBytes: number;
}

export interface RawTransform {
  readonly options: Pick<RunOptions, "pipeline" | "threads" | "signal" | "onProgress">;
  readonly pipeline: Pipeline;
  readonly staging: Pick<StagingFolder, "parts" | "root" | "temporary">;
  /** Says which items are gone: documents of theirs may have landed, and do not count. */
  readonly record: Pick<ExtractRecord, "vanished" | "removed">;
  readonly takeIndex: () => Landed;
}

/** Errors: those of a user's table (`config.invalid`), and of the disk. */
export async function runTransform(run: RunContext, extracted: Extracted): Promise<RunTransformed> {
  const transformed = await transformRaw({ ...run, ...extracted });
  run.journal.takeDrift(transformed.drift);
  return transformed;
}

/** The transform of raw documents, wherever they come from. Errors as of {@link runTransform}. */
export async function transformRaw(request: RawTransform): Promise<RunTransformed> {
  const transformed = await transformIndexed(request);
  // The index is garbage now that nothing here holds it, and would stay beside what the database takes.
  collectGarbage();
  return transformed;
}

async function transformIndexed({
  options,
  pipeline,
  staging,
  record,
  takeIndex,
}: RawTransform): Promise<RunTransformed> {
  const { items, index } = takeIndex();
  const gone = new Set([...record.vanished, ...record.removed].flatMap((id) => items.find(id) ?? []));
  const transformed = await transformItems({
    pipeline,
    pipelineUrl: typeof options.pipeline === "string" ? options.pipeline : undefined,
    threads: options.threads,
    index,
    isLeftOut: (item) => gone.has(item),
    weightOf: (item) => items.weightAt(item),
    parts: staging.parts,
    directory: staging.root,
    temporaryDirectory: staging.temporary,
    signal: options.signal,
    onProgress: options.onProgress,
  });
  const sorted = items.sorted();
  const weighing = {
    weights: Float32Array.from(sorted, (number) => items.weightAt(number)),
    idAt: (place: number) => items.idOf(sorted[place] ?? 0),
    widestTableBytes: Math.max(0, ...transformed.stagedBytes.values()),
  };
  return { ...transformed, bounds: rangeBounds(weighing), vectorBytes: vectorBytes(weighing) };
}
