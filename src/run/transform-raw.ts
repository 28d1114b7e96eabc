/** The transform of raw documents, and how its tables are to be loaded. */
import { collectGarbage } from "../common/gc.ts";
import { rangeBounds, vectorBytes } from "../load/range-bounds.ts";
import type { Bounds } from "../storage/id-ranges.ts";
import { type Transformed, transformItems } from "../transform/transform-items.ts";
import type { Building } from "./building.ts";

export interface RawTransformed extends Transformed {
  /** Of the ranges of items that the widest table is loaded by. */
  readonly bounds: Bounds;
  /** Of the widest table: what the database holds at once, roughly. */
  readonly vectorBytes: number;
}

/** Errors: those of a user's table (`config.invalid`), and of the disk. */
export async function transformRaw(building: Building): Promise<RawTransformed> {
  const transformed = await transformIndexed(building);
  // The index is garbage now that nothing here holds it, and would stay beside what the database takes.
  collectGarbage();
  return transformed;
}

async function transformIndexed(building: Building): Promise<RawTransformed> {
  const { landed, staging } = building;
  const { items, index } = landed.takeItems();
  const { vanished, removed } = landed.facts;
  // Documents of theirs may have landed, and do not count.
  const gone = new Set([...vanished, ...removed].flatMap((id) => items.find(id) ?? []));
  const transformed = await transformItems({
    pipeline: building.pipeline,
    pipelineUrl: building.pipelineUrl,
    threads: building.threads,
    index,
    isLeftOut: (item) => gone.has(item),
    weightOf: (item) => items.weightAt(item),
    parts: staging.parts,
    directory: staging.root,
    temporaryDirectory: staging.temporary,
    signal: building.signal,
    onProgress: building.onProgress,
  });
  const sorted = items.sorted();
  const weighing = {
    weights: Float32Array.from(sorted, (number) => items.weightAt(number)),
    idAt: (place: number) => items.idOf(sorted[place] ?? 0),
    widestTableBytes: Math.max(0, ...transformed.stagedBytes.values()),
  };
  return { ...transformed, bounds: rangeBounds(weighing), vectorBytes: vectorBytes(weighing) };
}
