/** Single-item requests after a pass: for items of which the passes say different things, or that none listed. */
import type { SingleRead } from "./checkpoint-form.ts";
import { RequestQueue } from "./request-queue.ts";
import { Bearable, readSingle } from "./single-item.ts";
import type { SweepContext } from "./sweep.ts";

/** Group of what is asked for singly after a pass: no listing has that pass, so its files meet no others. */
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
  const { holdings } = context;
  await askSingly(context, sweep, ids, (shape, { id, gone, read }) => {
    holdings.answered(id, gone ? "gone" : "there");
    if (read !== null) holdings.hold(shape, id, read.updatedAt);
  });
  await closeGroup(REPAIR_GROUP);
}

/** What came of items that no pass listed. Items in neither list could not be read, and are rejects. */
export interface Unlisted {
  /** The service has them all the same. */
  readonly found: readonly string[];
  /** Gone, by the service's word. */
  readonly removed: readonly string[];
}

/** Asks for items that no pass listed, after the last pass; those that are there are staged like others. */
export async function askForUnlisted(
  context: SweepContext,
  sweep: number,
  ids: readonly string[],
  closeGroup: (group: number) => Promise<void>,
): Promise<Unlisted> {
  const found = new Set<string>();
  const removed = new Set<string>();
  if (ids.length === 0) return { found: [], removed: [] };
  await askSingly(context, sweep, ids, (_shape, { id, gone, read }) => {
    if (gone) removed.add(id);
    if (read !== null) found.add(id);
  });
  await closeGroup(REPAIR_GROUP);
  return { found: ids.filter((id) => found.has(id) && !removed.has(id)), removed: [...removed].sort() };
}

async function askSingly(
  context: SweepContext,
  sweep: number,
  ids: readonly string[],
  take: (shape: "dynamic" | "full", answer: SingleRead) => void,
): Promise<void> {
  const { settings, onProgress } = context;
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
        take(shape, answer);
      }
      done += 1;
      onProgress({ stage: "items", done, total: ids.length, items: done, bytes });
    });
  }
  await queue.done();
}
