/**
 * Requests items singly: one item, or the items that a pass leaves in doubt, with a limit of failures at which the service
 * itself is at fault.
 */
import { type ErrorCode, WarehouseError } from "../../common/errors.ts";
import { WorkQueue } from "../../common/threads/work-queue.ts";
import type { Shape } from "../../raw/document.ts";
import type { RejectLimits } from "../../raw/extract-record.ts";
import { NO_FINGERPRINT } from "../../raw/raw-file.ts";
import { itemRequest } from "../http/request.ts";
import { SourceError } from "../http/source-error.ts";
import type { ItemResponse } from "../landing/checkpoint.ts";
import { bodyOf, recordOf } from "../landing/journal.ts";
import type { ResponseSlot, StageLanding } from "../landing/landing.ts";
import type { ItemTask } from "../pages/tasks.ts";
import { isFresh, secondsOf } from "../pages/updated-at.ts";
import type { ModeComparison } from "./certification.ts";
import type { ExtractContext } from "./context.ts";

interface SingleItem extends Pick<ItemTask, "shape" | "whole" | "listed" | "page" | "position"> {
  readonly id: string;
  /** Columns of the dynamic set to request. */
  readonly columns: readonly string[];
  readonly landing: StageLanding;
  readonly slot: ResponseSlot;
}

/** Whether the response neither holds the item nor says that it is gone. */
export function isRejected({ gone, updatedAt }: ItemResponse): boolean {
  return !gone && updatedAt === undefined;
}

export function recordItemResponse({ journal, gone }: ExtractContext, response: ItemResponse): void {
  const { id, record, rejects } = response;
  if (record !== null) journal.requests.push(record);
  journal.rejects.push(...rejects);
  if (response.gone) gone.set(id, response);
  else gone.delete(id);
}

/** Restores which items were gone when an interrupted run requested them after a pass. */
export async function restoreGone(context: ExtractContext): Promise<void> {
  for await (const responses of goneLanding(context).resumed<ItemResponse>())
    for (const response of responses) recordItemResponse(context, response);
}

function goneLanding({ landing }: ExtractContext): StageLanding {
  return landing.of("gone", 1);
}

/** Requests an item. A failure that concerns this item alone is a reject, as long as the budget allows. */
export async function requestItem(
  context: ExtractContext,
  item: SingleItem,
  budget: FailureBudget | undefined,
  signal: AbortSignal,
): Promise<ItemResponse> {
  const { id: contentId, shape, landing, page, position } = item;
  try {
    const response = await readItem(context, item, signal);
    if (isRejected(response)) budget?.addMismatch();
    return response;
  } catch (thrown) {
    const reason = rejectReason(thrown);
    if (reason === undefined) throw thrown;
    budget?.addFailure(thrown);
    const at = { mode: "item", pass: landing.pass, page, position, contentId };
    const rejects = [{ ...at, reason, document: "null" }];
    return { id: contentId, shape, gone: false, rejects, record: null };
  }
}

async function readItem(
  { client, settings }: ExtractContext,
  { id, shape, columns, whole, listed, landing, slot, page, position }: SingleItem,
  signal: AbortSignal,
): Promise<ItemResponse> {
  const lands = settings.shapes.includes(shape);
  const request = itemRequest({ id, mode: shape, columns });
  const { response, value } = await client.readAs(request, signal, async (received) => {
    if (received.status !== 200) return { updatedAt: undefined, rejects: [] };
    const body = bodyOf(received);
    return landing.item(slot, { shape, lands, page, position, contentId: id, whole, listed, body });
  });
  const about = { mode: "item", pass: landing.pass, page, position, contentId: id } as const;
  return { id, shape, gone: response.status !== 200, ...value, record: recordOf(response, about) };
}

/** Why the service may fail for one item alone; `undefined` if the failure is not the item's. */
function rejectReason(thrown: unknown): string | undefined {
  if (!(thrown instanceof SourceError)) return undefined;
  const { code, status, message } = thrown;
  if (status === 403) return "the service denied access to this item (403)";
  if (status === 405) return "the service does not answer requests for this item (405)";
  if (status === 500) return "the service failed for this item (500)";
  // Any other status is a failure of the service, not of the item.
  return status === null && UNREADABLE.has(code) ? firstClause(message) : undefined;
}

const UNREADABLE: ReadonlySet<ErrorCode> = new Set(["source.too_large", "source.damaged", "source.protocol"]);

/** The cause in an error's message, without what to do about it. */
function firstClause(message: string): string {
  const [clause = message] = message.split(/[;.](?:\s|$)/);
  return clause.charAt(0).toLowerCase() + clause.slice(1);
}

/** How many of `total` single-item requests may fail. `limits`: the setting `maxRejects`. */
function singlesLimit(total: number, limits: RejectLimits | null): number {
  const { share, items } = limits ?? { share: 0.01, items: 5 };
  return Math.max(items, Math.floor(total * share));
}

/** Rejected items and removed ones (404, 410) count apart, each against the limit. */
export class FailureBudget {
  readonly #total: number;
  /** Inclusive. */
  readonly #limit: number;
  #rejected = 0;
  #gone = 0;

  /** `total`: all items, whether they are requested or reused. `limits`: the setting `maxRejects`. */
  constructor(total: number, limits: RejectLimits | null) {
    this.#total = total;
    this.#limit = singlesLimit(total, limits);
  }

  /** Counts a failed request. Throws `failure` if the limit is exceeded. */
  addFailure(failure: unknown): void {
    this.#rejected += 1;
    if (this.#rejected > this.#limit) throw failure;
  }

  /** Counts a response that holds another item, or none. Throws `source.rejects` if the limit is exceeded. */
  addMismatch(): void {
    this.addFailure(
      this.#tooMany(this.#rejected + 1, "single-item requests were not answered with the item"),
    );
  }

  /** Counts a listed item that returned 404 or 410. Throws `source.rejects` if the limit is exceeded. */
  addGone(): void {
    this.#gone += 1;
    if (this.#gone > this.#limit)
      throw this.#tooMany(this.#gone, "listed items returned 404 or 410 when requested singly");
  }

  #tooMany(count: number, what: string): WarehouseError {
    const wayOut = "ask the service's operator, or set `maxRejects`";
    const sentence = `${count} of ${this.#total} ${what}, limit: ${this.#limit}; ${wayOut}.`;
    return new WarehouseError("source.rejects", sentence);
  }
}

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
  const { responses } = await requestItems(context, pass, ids);
  const fresh = responses.filter((response) => recordVersion(context, pass, response));
  return { fresh: fresh.length > 0 };
}

/** Requests each item in dynamic mode, in full mode and in dynamic mode again, and compares the times. */
export async function compareModes(
  context: ExtractContext,
  pass: number,
  ids: readonly string[],
): Promise<ModeComparison[]> {
  const { responses } = await requestItems(context, pass, ids, ["dynamic", "full", "dynamic"]);
  const received = responses.map((response) => {
    return { response, fresh: recordVersion(context, pass, response) };
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
  const { responses, skipped } = await requestItems(context, pass, ids);
  const idsOf = (those: readonly ItemResponse[]) => new Set(those.map(({ id }) => id));
  const removed = idsOf(responses.filter(({ gone }) => gone));
  const read = idsOf(responses.filter(({ updatedAt }) => updatedAt !== undefined));
  const rejected = idsOf(responses.filter(isRejected));
  const found = ids.filter((id) => read.has(id) && !removed.has(id));
  const inPart = found.filter((id) => rejected.has(id));
  return { found, inPart, removed: [...removed].sort(), skipped };
}

/**
 * Requests each item in these shapes, one after the other; those of the pipeline by default. An item that is gone is not
 * requested again. If too many items are rejected, the rest is skipped: it would be rejected too. This does not end the
 * run: a listing is read again instead, or the run is unsettled.
 */
async function requestItems(
  context: ExtractContext,
  pass: number,
  ids: readonly string[],
  shapes: readonly Shape[] = context.settings.shapes,
) {
  const { settings, onProgress } = context;
  const { columns } = settings;
  const landing = context.landing.of("after", pass);
  const ofGone = goneLanding(context);
  const queue = new WorkQueue(settings.concurrency, context.signal);
  const limit = singlesLimit(ids.length, settings.singlesLimits);
  const responses: ItemResponse[] = [];
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
      const gone = context.gone.get(id);
      if (gone !== undefined) {
        responses.push(gone);
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
          responses.push(response);
          if (response.gone) {
            queue.follow(ofGone.add(ofGone.reserveSlot(), response));
            break;
          }
          queue.follow(landing.add(slot, response));
        }
        if (hasReject) rejectedItems += 1;
        done += 1;
        onProgress({ stage: "items", done, total: ids.length, items: done, bytes });
      });
    }
    await queue.done();
    await landing.finish();
    await ofGone.finish();
  } finally {
    // Wait for the responses under way, so that a checkpoint has them.
    await queue.settled();
  }
  return { responses, skipped };
}
