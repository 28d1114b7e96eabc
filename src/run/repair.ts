/** Single-item requests after a pass: for items of which the passes say different things, or that none listed. */
import type { Comparison } from "./certify.ts";
import type { SingleRead } from "./checkpoint-form.ts";
import { isFresh } from "./fresh.ts";
import type { Shape } from "./holdings.ts";
import { RequestQueue } from "./request-queue.ts";
import { Bearable, readSingle } from "./single-item.ts";
import type { SweepContext } from "./sweep.ts";

/** What is asked for after a pass comes after all of its pages in the order of observation, group by group. */
const FIRST_PAGE = 5_000_000;
const PAGES_PER_GROUP = 1000;
const PER_PAGE = 1000;
/** Requests for an item at most, each with a place of its own on that page. */
const PLACES_PER_ITEM = 3;

/** The pass after which items are asked for, and the group that their documents are written as: none meets another. */
export interface AskedAfter {
  readonly sweep: number;
  readonly group: number;
}

/**
 * Asks for items singly in both shapes, after the pass `sweep`, so that new views of them are held, or they are known
 * to be gone. An answer that cannot be read is a reject, and leaves the item as it was.
 */
export async function repair(
  context: SweepContext,
  at: AskedAfter,
  ids: readonly string[],
): Promise<Pick<Comparison, "fresh">> {
  let fresh = false;
  await askSingly(context, at, { ids, shapes: ["dynamic", "full"] }, (shape, answer) => {
    if (hold(context, at, shape, answer)) fresh = true;
  });
  return { fresh };
}

/**
 * Asks for items singly, dynamic, full and dynamic again, back to back. The documents are held like those of
 * {@link repair}.
 */
export async function compare(
  context: SweepContext,
  at: AskedAfter,
  ids: readonly string[],
): Promise<Comparison[]> {
  const answers = new Map<string, Compared[]>(ids.map((id) => [id, []]));
  await askSingly(context, at, { ids, shapes: ["dynamic", "full", "dynamic"] }, (shape, answer) => {
    const fresh = hold(context, at, shape, answer);
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
function hold({ holdings }: SweepContext, { sweep }: AskedAfter, shape: Shape, answer: SingleRead): boolean {
  const { id, gone, read, record } = answer;
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
  at: AskedAfter,
  ids: readonly string[],
): Promise<Unlisted> {
  const found = new Set<string>();
  const removed = new Set<string>();
  await askSingly(context, at, { ids, shapes: ["dynamic", "full"] }, (_shape, { id, gone, read }) => {
    if (gone) removed.add(id);
    if (read !== null) found.add(id);
  });
  return { found: ids.filter((id) => found.has(id) && !removed.has(id)), removed: [...removed].sort() };
}

interface AskedSingly {
  readonly ids: readonly string[];
  /** Of each item, in this order. */
  readonly shapes: readonly Shape[];
}

async function askSingly(
  context: SweepContext,
  { sweep, group }: AskedAfter,
  { ids, shapes }: AskedSingly,
  take: (shape: Shape, answer: SingleRead) => void,
): Promise<void> {
  const { settings, onProgress } = context;
  const queue = new RequestQueue(settings.concurrency, context.signal);
  const bearable = new Bearable(ids.length * shapes.length, settings.singlesLimits);
  let done = 0;
  let bytes = 0;
  for (const [i, id] of ids.entries()) {
    await queue.add(async () => {
      for (const [place, shape] of shapes.entries()) {
        const position = (i % PER_PAGE) * PLACES_PER_ITEM + place;
        const page = FIRST_PAGE + group * PAGES_PER_GROUP + Math.floor(i / PER_PAGE);
        const single = { id, shape, sweep, group, page, position, columns: settings.columns };
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
