/** Transforms raw documents, and decides by which ranges of items the tables are loaded. */
import { asWarehouseError } from "../common/errors.ts";
import type { Log } from "../common/log.ts";
import { type BoundsByTable, cutItems, readFileBounds } from "../load/range-bounds.ts";
import { excludedItems } from "../raw/extract-record.ts";
import type { RawFolder } from "../raw/raw-folder.ts";
import { transformItems } from "../transform/transform-items.ts";
import type { NewRun, Runtime } from "./inputs.ts";

export type TransformedItems = Awaited<ReturnType<typeof transformRaw>>;

/** Throws `config.invalid` if a function of the pipeline fails, and errors of the disk. */
export async function transformRaw(
  run: NewRun,
  landed: RawFolder,
  { threads, signal, onProgress, log }: Runtime,
) {
  const { pipeline, pipelineUrl, staging } = run;
  const index = landed.takeIndex();
  const { items } = index;
  const excluded = new Set(excludedItems(landed.facts).flatMap((id) => items.find(id) ?? []));
  const transformed = await transformItems({
    pipeline,
    pipelineUrl,
    threads,
    index,
    isLeftOut: (item) => excluded.has(item),
    weightOf: (item) => items.weightAt(item),
    parts: staging.parts,
    directory: staging.root,
    temporaryDirectory: staging.temporary,
    signal,
    onProgress,
  });
  const sorted = items.sorted();
  const weighing = {
    weights: Float32Array.from(sorted, (number) => items.weightAt(number)),
    idAt: (place: number) => items.idOf(sorted[place] ?? 0),
    widestTableBytes: Math.max(0, ...transformed.stagedBytes.values()),
  };
  const before = await boundsBefore(run, log);
  return {
    ...transformed,
    ...cutItems(weighing, transformed.stagedBytes, before),
    /** Bounds of the files of the run before. */
    boundsBefore: before,
  };
}

/** Empty if the files of the run before cannot be read: ranges are then cut as in a first run. */
async function boundsBefore({ baseline, pipeline, staging }: NewRun, log: Log): Promise<BoundsByTable> {
  if (baseline.kind !== "run") return new Map();
  try {
    return await readFileBounds(baseline, pipeline.tables, staging.temporary);
  } catch (thrown) {
    const { message } = asWarehouseError(thrown);
    log.warn(`All files are rewritten, because those of the run before cannot be read: ${message}`, {
      run: staging.run,
    });
    return new Map();
  }
}
