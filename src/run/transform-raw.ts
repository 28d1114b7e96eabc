/** The transform of raw documents, and how its tables are to be loaded. */
import { asWarehouseError } from "../common/errors.ts";
import { collectGarbage } from "../common/gc.ts";
import {
  type BoundsByTable,
  fileBounds,
  rangeBounds,
  readFileBounds,
  vectorBytes,
} from "../load/range-bounds.ts";
import { leftOut } from "../raw/extract-record.ts";
import { transformItems } from "../transform/transform-items.ts";
import type { Building } from "./context.ts";

export type RawTransformed = Awaited<ReturnType<typeof transformRaw>>;

/** Errors: those of a user's table (`config.invalid`), and of the disk. */
export async function transformRaw(building: Building) {
  const transformed = await transformIndexed(building);
  // The index is garbage now that nothing here holds it, and would stay beside what the database takes.
  collectGarbage();
  return transformed;
}

async function transformIndexed(building: Building) {
  const { landed, staging, pipeline, options } = building;
  const { items, index } = landed.takeItems();
  const without = new Set(leftOut(landed.facts).flatMap((id) => items.find(id) ?? []));
  const transformed = await transformItems({
    pipeline,
    pipelineUrl: typeof options.pipeline === "string" ? options.pipeline : undefined,
    threads: options.threads,
    index,
    isLeftOut: (item) => without.has(item),
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
  const bounds = rangeBounds(weighing);
  const before = await boundsBefore(building);
  return {
    ...transformed,
    /** Of the ranges of items that the widest table is loaded by. */
    bounds,
    /** Of the files of each table of items. */
    fileBounds: fileBounds(weighing, { bounds, stagedBytes: transformed.stagedBytes, before }),
    /** Of the files of the run whose ranges are kept. */
    boundsBefore: before,
    /** Of the widest table: what the database holds at once, roughly. */
    vectorBytes: vectorBytes(weighing),
  };
}

/** None where the files of the run cannot be read: then this one cuts its ranges as a first run does. */
async function boundsBefore({ baseline, pipeline, staging, options }: Building): Promise<BoundsByTable> {
  if (baseline.kind !== "run") return new Map();
  try {
    return await readFileBounds(baseline, pipeline.tables, staging.temporary);
  } catch (thrown) {
    const { message } = asWarehouseError(thrown);
    options.log.warn(`All files are cut anew, because those of the run before cannot be read: ${message}`, {
      run: staging.run,
    });
    return new Map();
  }
}
