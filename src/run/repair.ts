/** Single-item requests after a pass, for items of which the passes say different things. */
import { RequestQueue } from "./request-queue.ts";
import { Bearable, readSingle } from "./single-item.ts";
import type { SweepContext } from "./sweep.ts";

/** Group of what is asked for singly after a pass; no group of pages has its number. */
const REPAIR_GROUP = 0;
/** Answers that stand on one page of the order of observation. */
const PER_PAGE = 1000;

/**
 * Asks for items singly in both shapes, after the pass `sweep`, so that new views of them are held, or they are known
 * to be gone. An answer that cannot be read is a reject, and leaves the item as it was.
 */
export async function repair(
  context: SweepContext,
  sweep: number,
  ids: readonly string[],
  closeGroup: (group: number) => Promise<void>,
): Promise<void> {
  const { holdings, settings, onProgress } = context;
  const queue = new RequestQueue(settings.concurrency, context.signal);
  const bearable = new Bearable(ids.length * 2);
  let done = 0;
  let bytes = 0;
  for (const [i, id] of ids.entries()) {
    await queue.add(async () => {
      for (const [place, shape] of (["dynamic", "full"] as const).entries()) {
        const at = { page: Math.floor(i / PER_PAGE), position: (i % PER_PAGE) * 2 + place };
        const single = { id, shape, sweep, group: REPAIR_GROUP, ...at, columns: settings.columns };
        const answer = await readSingle(context, single, bearable, queue.signal);
        bytes += answer.record?.bytes ?? 0;
        holdings.answered(id, answer.gone ? "gone" : "there");
        if (answer.read !== null) holdings.hold(shape, id, answer.read.updatedAt);
      }
      done += 1;
      onProgress({ stage: "items", done, total: ids.length, items: done, bytes });
    });
  }
  await queue.done();
  await closeGroup(REPAIR_GROUP);
}
