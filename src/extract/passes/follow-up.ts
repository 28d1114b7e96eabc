/** Single-item requests after a pass: for items of which the passes say different things, or that none listed. */

import { WorkQueue } from "../../common/threads/work-queue.ts";
import type { Shape } from "../../raw/document.ts";
import { NO_FINGERPRINT } from "../../raw/fingerprint.ts";
import type { ItemResponse } from "../landing/checkpoint.ts";
import type { StageLanding } from "../landing/landing.ts";
import { isFresh, secondsOf } from "../pages/updated-at.ts";
import type { ModeComparison } from "./certification.ts";
import type { ExtractContext } from "./context.ts";
import type { RejectLimits } from "./reject-limits.ts";
import {
  all,
  FailureBudget,
  isRejected,
  recordItemResponse,
  requestItem,
  singlesLimit,
} from "./single-item.ts";

/** What is asked for after a pass comes after all of its pages in the order of observation, group by group. */
const FIRST_PAGE = 5_000_000;

/** Items that are asked for after a pass. */
export interface ItemRequests {
  readonly ids: readonly string[];
  readonly landing: StageLanding<ItemResponse>;
}

/**
 * Asks for items singly in the shapes of the pipeline, so that new documents of them are held, or they are known to be
 * gone. An answer that cannot be read is a reject, and leaves the item as it was.
 */
export async function repairItems(
  context: ExtractContext,
  after: ItemRequests,
): Promise<Pick<ModeComparison, "fresh">> {
  let fresh = false;
  await askSingly(context, after, context.settings.shapes, (answer) => {
    if (hold(context, after.landing.pass, answer)) fresh = true;
  });
  return { fresh };
}

/**
 * Takes answers that {@link repairItems} was given before the run was resumed as if they were given now. Those that could not
 * be read are asked for again.
 */
export function restoreRepairs(
  context: ExtractContext,
  pass: number,
  answers: readonly ItemResponse[],
): void {
  for (const answer of answers) {
    if (isRejected(answer)) continue;
    recordItemResponse(context, answer);
    hold(context, pass, answer);
  }
}

/**
 * Asks for items singly, dynamic, full and dynamic again, back to back. The documents are held like those of
 * {@link repairItems}.
 */
export async function compareModes(context: ExtractContext, after: ItemRequests): Promise<ModeComparison[]> {
  const answers: { answer: ItemResponse; fresh: boolean }[] = [];
  await askSingly(context, after, ["dynamic", "full", "dynamic"], (answer) => {
    answers.push({ answer, fresh: hold(context, after.landing.pass, answer) });
  });
  return [...Map.groupBy(answers, ({ answer }) => answer.id).values()].map((each) => {
    const [dynamic, full, dynamicAgain] = each.map(({ answer: { read } }) =>
      read === null ? undefined : secondsOf(read.updatedAt),
    );
    const answered = each.map(({ answer: { record } }) => record?.observedAt ?? 0);
    return {
      dynamic,
      full,
      dynamicAgain,
      answeredAt: Math.max(...answered) / 1_000_000,
      fresh: each.some(({ fresh }) => fresh),
    };
  });
}

/** Whether the answer is fresh. */
function hold(
  { versions, settings }: ExtractContext,
  pass: number,
  { id, shape, gone, read, record }: ItemResponse,
): boolean {
  versions.recordResponse(id, gone ? "gone" : read === null ? "rejected" : "there", pass);
  if (read === null || record === null) return false;
  // Of a shape that does not land there is a time, and no document.
  if (!settings.shapes.includes(shape)) return isFresh(secondsOf(read.updatedAt), record);
  const fresh = isFresh(versions.recordDocument(shape, id, read.updatedAt), record);
  if (fresh) versions.invalidate(shape, id);
  return fresh;
}

/**
 * Asks for items that no pass listed, after the last pass; those that are `found` are staged like others, `inPart` where
 * one mode was refused, and those that are `removed` are gone by the service's word. Others could not be read, and are
 * rejects, or were `skipped`, as {@link askSingly} has it.
 */
export async function requestUnlisted(context: ExtractContext, after: ItemRequests) {
  const found = new Set<string>();
  const removed = new Set<string>();
  const rejected = new Set<string>();
  const skipped = await askSingly(context, after, context.settings.shapes, (answer) => {
    const { id, gone, read } = answer;
    if (gone) removed.add(id);
    if (read !== null) found.add(id);
    if (isRejected(answer)) rejected.add(id);
  });
  const there = after.ids.filter((id) => found.has(id) && !removed.has(id));
  return {
    found: there,
    inPart: there.filter((id) => rejected.has(id)),
    removed: [...removed].sort(),
    skipped,
  };
}

/** What is refused is no reason to end the run: the listing is read again in place of it, or the run is unsettled. */
const EVERY_ONE: RejectLimits = { share: 1, items: Number.POSITIVE_INFINITY };

/** No listing is known that says what the answer says. */
const UNLISTED = { fingerprint: NO_FINGERPRINT };

/** Asks until too many items were refused: then the others would be, too. Gives the IDs of those. */
async function askSingly(
  context: ExtractContext,
  { ids, landing }: ItemRequests,
  /** Of each item, in this order. */
  shapes: readonly Shape[],
  take: (answer: ItemResponse) => void,
): Promise<readonly string[]> {
  const { settings, onProgress } = context;
  const queue = new WorkQueue(settings.concurrency, context.signal);
  const budget = new FailureBudget(all(ids.length * shapes.length), EVERY_ONE);
  const refusedAtMost = singlesLimit(all(ids.length), settings.singlesLimits);
  const skipped: string[] = [];
  let refused = 0;
  let done = 0;
  let bytes = 0;
  try {
    for (const id of ids) {
      if (refused > refusedAtMost) {
        skipped.push(id);
        continue;
      }
      const placed = shapes.map((shape) => ({ shape, place: landing.reserveSlot() }));
      await queue.add(async () => {
        let unread = false;
        for (const { shape, place } of placed) {
          const at = { page: FIRST_PAGE + place.group.first, position: place.position };
          const { columns } = settings;
          const single = { id, shape, landing, place, ...at, columns, whole: true, listed: UNLISTED };
          const answer = await requestItem(context, single, budget, queue.signal);
          bytes += answer.record?.bytes ?? 0;
          unread ||= isRejected(answer);
          take(answer);
          queue.follow(landing.add(place, answer));
        }
        if (unread) refused += 1;
        done += 1;
        onProgress({ stage: "items", done, total: ids.length, items: done, bytes });
      });
    }
    await queue.done();
    await landing.finish();
  } finally {
    // What has come is taken before it is saved.
    await queue.settled();
  }
  return skipped;
}
