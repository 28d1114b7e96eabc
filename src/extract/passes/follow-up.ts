/** Single-item requests after a pass: for items that differ between passes, and for items that no pass listed. */
import { WorkQueue } from "../../common/threads/work-queue.ts";
import type { Shape } from "../../raw/document.ts";
import { NO_FINGERPRINT } from "../../raw/raw-file.ts";
import type { ItemResponse } from "../landing/checkpoint.ts";
import { isFresh, secondsOf } from "../pages/updated-at.ts";
import type { ModeComparison } from "./certification.ts";
import type { ExtractContext } from "./context.ts";
import { singlesLimit } from "./failure-budget.ts";
import { isRejected, recordItemResponse, requestItem } from "./single-item.ts";

/** Page number of the first group. It orders these documents after the single items of the pass. */
const FIRST_PAGE = 5_000_000;

/** No listing is known to agree with these responses, so no later run reuses them. */
const NOT_LISTED = { fingerprint: NO_FINGERPRINT };

/**
 * Requests items in all shapes that the pipeline reads, and records the new documents, or that the item is gone. A
 * response that cannot be read is a reject; the item keeps the documents that it has.
 */
export async function repairItems(
  context: ExtractContext,
  pass: number,
  ids: readonly string[],
): Promise<Pick<ModeComparison, "fresh">> {
  let fresh = false;
  await requestItems(context, { pass, ids, shapes: context.settings.shapes }, (response) => {
    if (recordVersion(context, pass, response)) fresh = true;
  });
  return { fresh };
}

/** Requests each item in dynamic mode, in full mode and in dynamic mode again, and compares the times. */
export async function compareModes(
  context: ExtractContext,
  pass: number,
  ids: readonly string[],
): Promise<ModeComparison[]> {
  const received: { response: ItemResponse; fresh: boolean }[] = [];
  await requestItems(context, { pass, ids, shapes: ["dynamic", "full", "dynamic"] }, (response) => {
    received.push({ response, fresh: recordVersion(context, pass, response) });
  });
  return [...Map.groupBy(received, ({ response }) => response.id).values()].map((three) => {
    const [dynamic, full, dynamicAgain] = three.map(({ response: { updatedAt } }) =>
      updatedAt === undefined ? undefined : secondsOf(updatedAt),
    );
    const answeredAt = Math.max(...three.map(({ response }) => response.record?.observedAt ?? 0)) / 1_000_000;
    return { dynamic, full, dynamicAgain, answeredAt, fresh: three.some(({ fresh }) => fresh) };
  });
}

/** Records which version of the item was read. Returns whether the response is fresh, see {@link isFresh}. */
function recordVersion(
  { versions, settings }: ExtractContext,
  pass: number,
  { id, shape, gone, updatedAt, record }: ItemResponse,
): boolean {
  versions.recordResponse(id, gone ? "gone" : updatedAt === undefined ? "rejected" : "there", pass);
  if (updatedAt === undefined || record === null) return false;
  // The documents of a shape that the pipeline does not read do not land.
  if (!settings.shapes.includes(shape)) return isFresh(secondsOf(updatedAt), record);
  const fresh = isFresh(versions.recordDocument(shape, id, updatedAt), record);
  if (fresh) versions.invalidate(shape, id);
  return fresh;
}

/**
 * Requests items that no pass listed, after the last pass. Returns the IDs of items that are `found`, of these the ones
 * that could be read in one mode only (`inPart`), of items that are `removed` (404 or 410), and of `skipped` items.
 */
export async function requestUnlisted(context: ExtractContext, pass: number, ids: readonly string[]) {
  const read = new Set<string>();
  const removed = new Set<string>();
  const rejected = new Set<string>();
  const skipped = await requestItems(context, { pass, ids, shapes: context.settings.shapes }, (response) => {
    if (response.gone) removed.add(response.id);
    if (response.updatedAt !== undefined) read.add(response.id);
    if (isRejected(response)) rejected.add(response.id);
  });
  const found = ids.filter((id) => read.has(id) && !removed.has(id));
  const inPart = found.filter((id) => rejected.has(id));
  return { found, inPart, removed: [...removed].sort(), skipped };
}

/**
 * Requests each item in these shapes, one after the other. If too many items are rejected, the rest is skipped: it would
 * be rejected too. This does not end the run: a listing is read again instead, or the run is unsettled.
 */
async function requestItems(
  context: ExtractContext,
  {
    pass,
    ids,
    shapes,
  }: { readonly pass: number; readonly ids: readonly string[]; readonly shapes: readonly Shape[] },
  take: (response: ItemResponse) => void,
): Promise<readonly string[]> {
  const { settings, onProgress } = context;
  const { columns } = settings;
  const landing = context.landing.of("after", pass);
  const queue = new WorkQueue(settings.concurrency, context.signal);
  const limit = singlesLimit(ids.length, settings.singlesLimits);
  const skipped: string[] = [];
  let rejectedItems = 0;
  let done = 0;
  let bytes = 0;
  try {
    for (const id of ids) {
      if (rejectedItems > limit) {
        skipped.push(id);
        continue;
      }
      const slots = shapes.map((shape) => ({ shape, slot: landing.reserveSlot() }));
      await queue.add(async () => {
        let hasReject = false;
        for (const { shape, slot } of slots) {
          const at = { page: FIRST_PAGE + slot.group.first, position: slot.position };
          const item = { id, shape, landing, slot, ...at, columns, whole: true, listed: NOT_LISTED };
          const response = await requestItem(context, item, undefined, queue.signal);
          recordItemResponse(context, response);
          bytes += response.record?.bytes ?? 0;
          hasReject ||= isRejected(response);
          take(response);
          queue.follow(landing.add(slot, response));
        }
        if (hasReject) rejectedItems += 1;
        done += 1;
        onProgress({ stage: "items", done, total: ids.length, items: done, bytes });
      });
    }
    await queue.done();
    await landing.finish();
  } finally {
    // Wait for the responses under way, so that a checkpoint has them.
    await queue.settled();
  }
  return skipped;
}
