/** Single-item requests after a pass: for items of which the passes say different things, or that none listed. */
import { type RejectLimits, rejectLimit } from "../../audit/checks/rejects.ts";
import type { Comparison } from "./certification.ts";
import type { ReadSingles, SingleRead } from "../landing/checkpoint-form.ts";
import { isFresh } from "./fresh.ts";
import type { Shape } from "./item-versions.ts";
import { RequestQueue } from "../../common/threads/work-queue.ts";
import { Bearable, isRejected, putOnRecord, readSingle } from "./single-item.ts";
import type { SweepContext } from "./listing.ts";

/** What is asked for after a pass comes after all of its pages in the order of observation, group by group. */
const FIRST_PAGE = 5_000_000;
/** Requests for an item at most, each with a place of its own on the page of its group. */
const PLACES_PER_ITEM = 3;
const ITEMS_PER_GROUP = 500;

/** What becomes of items that are asked for after a pass. */
export interface AfterPass {
  readonly sweep: number;
  /** Number of a new group: its documents come after those of the groups before it. */
  readonly nextGroup: () => number;
  /** Called with the answers that a group has so far, after each; the promise is of what is done about it. */
  readonly onRead: (group: number, read: () => ReadSingles) => Promise<void>;
  /** Called once all items of a group were answered. Answers when the group is written. */
  readonly closeGroup: (group: number, read: ReadSingles) => Promise<void>;
}

/**
 * Asks for items singly in both shapes, after the pass `sweep`, so that new views of them are held, or they are known
 * to be gone. An answer that cannot be read is a reject, and leaves the item as it was.
 */
export async function repair(
  context: SweepContext,
  after: AfterPass,
  ids: readonly string[],
): Promise<Pick<Comparison, "fresh">> {
  let fresh = false;
  await askSingly(context, after, { ids, shapes: ["dynamic", "full"] }, (answer) => {
    if (hold(context, after, answer)) fresh = true;
  });
  return { fresh };
}

/**
 * Takes answers that {@link repair} was given before the run was resumed as if they were given now. Those that could not
 * be read are asked for again.
 */
export function replayRepaired(context: SweepContext, sweep: number, { answers }: ReadSingles): void {
  for (const answer of answers) {
    if (isRejected(answer)) continue;
    putOnRecord(context, answer);
    hold(context, { sweep }, answer);
  }
}

/**
 * Asks for items singly, dynamic, full and dynamic again, back to back. The documents are held like those of
 * {@link repair}.
 */
export async function compare(
  context: SweepContext,
  after: AfterPass,
  ids: readonly string[],
): Promise<Comparison[]> {
  const answers = new Map<string, Compared[]>(ids.map((id) => [id, []]));
  await askSingly(context, after, { ids, shapes: ["dynamic", "full", "dynamic"] }, (answer) => {
    const fresh = hold(context, after, answer);
    answers.get(answer.id)?.push({ updatedAt: answer.read?.updatedAt, fresh });
  });
  return [...answers.values()].map((each) => {
    const [dynamic, full, dynamicAgain] = each.map(({ updatedAt }) => updatedAt);
    return { dynamic, full, dynamicAgain, fresh: each.some(({ fresh }) => fresh) };
  });
}

interface Compared {
  readonly updatedAt: string | null | undefined;
  readonly fresh: boolean;
}

/** Whether the answer is fresh. */
function hold(
  { holdings }: SweepContext,
  { sweep }: Pick<AfterPass, "sweep">,
  { id, shape, gone, read, record }: SingleRead,
): boolean {
  holdings.answered(id, gone ? "gone" : read === null ? "rejected" : "there", sweep);
  if (read === null || record === null) return false;
  const fresh = isFresh(holdings.hold(shape, id, read.updatedAt), record);
  if (fresh) holdings.forget(shape, id);
  return fresh;
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
  after: AfterPass,
  ids: readonly string[],
): Promise<Unlisted> {
  const found = new Set<string>();
  const removed = new Set<string>();
  await askSingly(context, after, { ids, shapes: ["dynamic", "full"] }, ({ id, gone, read }) => {
    if (gone) removed.add(id);
    if (read !== null) found.add(id);
  });
  return { found: ids.filter((id) => found.has(id) && !removed.has(id)), removed: [...removed].sort() };
}

/** What is refused is no reason to end the run: the listing is read again in place of it, or the run is unsettled. */
const EVERY_ONE: RejectLimits = { share: 1, items: Number.POSITIVE_INFINITY };

interface AskedSingly {
  readonly ids: readonly string[];
  /** Of each item, in this order. */
  readonly shapes: readonly Shape[];
}

/** Asks until too many items were refused: then the others would be, too. */
async function askSingly(
  context: SweepContext,
  after: AfterPass,
  { ids, shapes }: AskedSingly,
  take: (answer: SingleRead) => void,
): Promise<void> {
  const { settings, onProgress } = context;
  const queue = new RequestQueue(settings.concurrency, context.signal);
  const bearable = new Bearable(ids.length * shapes.length, EVERY_ONE);
  const refusedAtMost = rejectLimit(ids.length, settings.singlesLimits);
  let refused = 0;
  let done = 0;
  let bytes = 0;
  const askGroup = async (group: number, ofGroup: readonly string[]) => {
    const answers: SingleRead[] = [];
    for (const [i, id] of ofGroup.entries()) {
      if (refused > refusedAtMost) break;
      await queue.add(async () => {
        let unread = false;
        for (const [place, shape] of shapes.entries()) {
          const at = { page: FIRST_PAGE + group, position: i * PLACES_PER_ITEM + place };
          const single = {
            id,
            shape,
            sweep: after.sweep,
            group,
            ...at,
            columns: settings.columns,
            whole: true,
          };
          const answer = await readSingle(context, single, bearable, queue.signal);
          bytes += answer.record?.bytes ?? 0;
          unread ||= isRejected(answer);
          answers.push(answer);
          take(answer);
          queue.follow(after.onRead(group, () => ({ answers: [...answers] })));
        }
        if (unread) refused += 1;
        done += 1;
        onProgress({ stage: "items", done, total: ids.length, items: done, bytes });
      });
    }
    await queue.done();
    await after.closeGroup(group, { answers });
  };
  try {
    for (let first = 0; first < ids.length; first += ITEMS_PER_GROUP)
      await askGroup(after.nextGroup(), ids.slice(first, first + ITEMS_PER_GROUP));
  } catch (thrown) {
    // What has come is taken before it is saved.
    await queue.settled();
    throw thrown;
  }
}
