/** Single-item requests, for the fields that only such answers give. */
import { itemRequest } from "../extract/request.ts";
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

/**
 * Asks for the items and calls `closeGroup` for each group of pages, once all its items were answered. Returns how many
 * items are gone.
 */
export async function readDetails(
  context: SweepContext,
  wanted: Wanted,
  closeGroup: (group: number) => Promise<void>,
): Promise<number> {
  const queue = new RequestQueue(context.settings.concurrency, context.signal);
  const total = wanted.count;
  let done = 0;
  let gone = 0;
  let bytes = 0;
  for (const [group, items] of wanted.groups()) {
    let left = items.length;
    for (const item of items) {
      await queue.add(async () => {
        const answer = await readDetail(context, item, queue.signal);
        done += 1;
        left -= 1;
        bytes += answer.bytes;
        if (answer.gone) gone += 1;
        if (left === 0) queue.follow(closeGroup(group));
        context.onProgress({ stage: "items", done, total, items: done, bytes });
      });
    }
  }
  await queue.done();
  return gone;
}

async function readDetail(
  context: SweepContext,
  item: Listed,
  signal: AbortSignal,
): Promise<{ gone: boolean; bytes: number }> {
  const { client, workers, journal, settings, clock } = context;
  const { id, page, position, group } = item;
  const request = itemRequest({ id, mode: "dynamic", columns: settings.itemColumns, gallery: true });
  const { response, value } = await client.readAs(request, signal, async (answer) => {
    const observedAt = observedAtOf(answer, clock);
    const bytes = answer.body.byteLength;
    if (answer.status !== 200) return { observedAt, bytes, rejects: [] };
    const body = { bytes: answer.body, contentEncoding: answer.contentEncoding, observedAt };
    const task = { kind: "item", sweep: 1, group, page, position, contentId: id, body } as const;
    return { observedAt, bytes, ...(await workers.item(task)) };
  });
  const { observedAt, bytes, rejects } = value;
  journal.requests.push(
    recordOf(response, { mode: "item", sweep: 1, page, contentId: id, observedAt, bytes }),
  );
  journal.rejects.push(...rejects);
  return { gone: response.status !== 200, bytes };
}
