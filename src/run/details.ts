/** Single-item requests, for the fields that only such answers give. */
import { WarehouseError } from "../errors.ts";
import { itemRequest } from "../extract/request.ts";
import { SourceError } from "../extract/source-error.ts";
import { observedAtOf, recordOf } from "./journal.ts";
import { RequestQueue } from "./request-queue.ts";
import type { Listed, SweepContext } from "./sweep.ts";

/** Which items are asked for singly. */
export type Details = "events" | "all" | "none";

/** Collects the items of a listing that are to be asked for singly, each once however often it is listed. */
export class Wanted {
  readonly #details: Details;
  readonly #items = new Map<string, Listed>();

  constructor(details: Details) {
    this.#details = details;
  }

  note(item: Listed): void {
    if (this.#details === "none" || (this.#details === "events" && !item.event)) return;
    const known = this.#items.get(item.id);
    if (known === undefined || item.page < known.page) this.#items.set(item.id, item);
  }

  get count(): number {
    return this.#items.size;
  }

  /** By the group of pages that listed them, in the order of the pages. */
  groups(): [group: number, items: Listed[]][] {
    const items = [...this.#items.values()].sort((a, b) => a.page - b.page || a.position - b.position);
    return [...Map.groupBy(items, (item) => item.group)];
  }
}

export interface DetailsRead {
  /** Items that are gone, by the service's word. */
  readonly gone: number;
  /** Items that could not be had singly: each is a reject, and its listed views count. */
  readonly rejected: number;
}

/** Asks for the items and calls `closeGroup` for each group of pages, once all its items were answered. */
export async function readDetails(
  context: SweepContext,
  sweep: number,
  wanted: Wanted,
  closeGroup: (group: number) => Promise<void>,
): Promise<DetailsRead> {
  const queue = new RequestQueue(context.settings.concurrency, context.signal);
  const columns = context.settings.itemColumns;
  const total = wanted.count;
  let done = 0;
  let gone = 0;
  let bytes = 0;
  const bearable = new Bearable(total);
  for (const [group, items] of wanted.groups()) {
    let left = items.length;
    for (const item of items) {
      await queue.add(async () => {
        const single = { ...item, shape: "dynamic", sweep, columns } as const;
        const answer = await readSingle(context, single, bearable, queue.signal);
        done += 1;
        left -= 1;
        bytes += answer.bytes;
        if (answer.gone) gone += 1;
        // Only a few columns were asked for: where the item was edited since it was listed, the rest is of before.
        else if (answer.updatedAt !== undefined && answer.updatedAt !== item.updatedAt)
          context.holdings.forget("dynamic", [item.id]);
        if (left === 0) queue.follow(closeGroup(group));
        context.onProgress({ stage: "items", done, total, items: done, bytes });
      });
    }
  }
  await queue.done();
  return { gone, rejected: bearable.rejected };
}

/** Items that may be rejected among those that are asked for singly: a share of all, and so many in any case. */
const REJECTED_SHARE = 0.01;
const REJECTED_ANYWAY = 5;

/** Counts single items that could not be had, until there are so many that the service itself is at fault. */
class Bearable {
  readonly #most: number;
  rejected = 0;

  constructor(total: number) {
    this.#most = Math.max(REJECTED_ANYWAY, total * REJECTED_SHARE);
  }

  /** Throws `thrown` for one too many. */
  reject(thrown: unknown): void {
    this.rejected += 1;
    if (this.rejected > this.#most) throw thrown;
  }
}

/** Why one item alone may fail while the service is well; undefined: the failure is not the item's. */
function itemsOwnFailure(thrown: unknown): string | undefined {
  if (!(thrown instanceof SourceError)) return undefined;
  if (thrown.status === 403) return "the service does not allow to read the item singly (403)";
  return thrown.status === 500 ? "the service fails when it is asked for the item (500)" : undefined;
}

function tooManyOthers(): WarehouseError {
  return new WarehouseError(
    "source.rejects",
    "The service answers too many requests for single items with something else; ask its operator.",
  );
}

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
        bytes += answer.bytes;
        holdings.answered(id, answer.gone ? "gone" : "there");
        if (!answer.gone && answer.updatedAt !== undefined) holdings.hold(shape, id, answer.updatedAt);
      }
      done += 1;
      onProgress({ stage: "items", done, total: ids.length, items: done, bytes });
    });
  }
  await queue.done();
  await closeGroup(REPAIR_GROUP);
}

interface Single {
  readonly id: string;
  readonly shape: "dynamic" | "full";
  /** Of the dynamic set. */
  readonly columns: readonly string[];
  readonly sweep: number;
  readonly group: number;
  readonly page: number;
  readonly position: number;
}

interface SingleAnswer {
  readonly gone: boolean;
  /** Undefined: the answer could not be read. */
  readonly updatedAt: string | null | undefined;
  readonly bytes: number;
}

/** Asks for an item. What is wrong with it alone is a reject, as long as that is bearable. */
async function readSingle(
  context: SweepContext,
  single: Single,
  bearable: Bearable,
  signal: AbortSignal,
): Promise<SingleAnswer> {
  try {
    const answer = await askSingle(context, single, signal);
    if (!answer.gone && answer.updatedAt === undefined) bearable.reject(tooManyOthers());
    return answer;
  } catch (thrown) {
    const reason = itemsOwnFailure(thrown);
    if (reason === undefined) throw thrown;
    bearable.reject(thrown);
    const { id: contentId, sweep, page, position } = single;
    context.journal.rejects.push({
      mode: "item",
      sweep,
      page,
      position,
      contentId,
      reason,
      document: "null",
    });
    return { gone: false, updatedAt: undefined, bytes: 0 };
  }
}

async function askSingle(context: SweepContext, single: Single, signal: AbortSignal): Promise<SingleAnswer> {
  const { client, workers, journal, clock } = context;
  const { id, shape, columns, sweep, group, page, position } = single;
  const request = itemRequest({ id, mode: shape, columns, gallery: true });
  const { response, value } = await client.readAs(request, signal, async (answer) => {
    const observedAt = observedAtOf(answer, clock);
    const bytes = answer.body.byteLength;
    if (answer.status !== 200) return { observedAt, bytes, updatedAt: undefined, rejects: [] };
    const body = { bytes: answer.body, contentEncoding: answer.contentEncoding, observedAt };
    const task = { kind: "item", shape, sweep, group, page, position, contentId: id, body } as const;
    return { observedAt, bytes, ...(await workers.item(task)) };
  });
  const { observedAt, bytes, updatedAt, rejects } = value;
  journal.requests.push(recordOf(response, { mode: "item", sweep, page, contentId: id, observedAt, bytes }));
  journal.rejects.push(...rejects);
  return { gone: response.status !== 200, updatedAt, bytes };
}
