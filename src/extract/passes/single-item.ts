/** One request for a single item: its answer, or why there is none. */

import { type ErrorCode, WarehouseError } from "../../common/errors.ts";
import { itemRequest } from "../http/request.ts";
import { SourceError } from "../http/source-error.ts";
import type { ItemResponse, PageResponse } from "../landing/checkpoint.ts";
import { bodyOf, recordOf } from "../landing/journal.ts";
import type { ResponseSlot, StageLanding } from "../landing/landing.ts";
import type { ItemTask } from "../pages/tasks.ts";
import type { ExtractContext } from "./context.ts";
import { type RejectLimits, rejectLimit } from "./reject-limits.ts";

/** Items that are asked for singly, as far as their failures count. */
export interface FailureScope {
  /** Without those that are excused. */
  readonly total: number;
  /** Whether these are few of many, because others were reused. */
  readonly few: boolean;
  /** Items that failed in the run before already, and no document of theirs can be reused: none is a new failure. */
  readonly excused: ReadonlySet<string>;
  /** All that are wanted: were none reused, each would be asked for. */
  readonly wanted: number;
}

export function all(total: number): FailureScope {
  return { total, few: false, excused: new Set(), wanted: total };
}

/** How many items may fail singly before the service itself is at fault, unless `maxRejects` says so. */
export function singlesLimit(
  { total, few }: Pick<FailureScope, "total" | "few">,
  limits: RejectLimits | null,
): number {
  if (limits !== null) return rejectLimit(total, limits);
  // Of a few, some are no accident where most of them fail.
  const most = few ? Math.max(1, Math.floor(total / 2)) : Number.POSITIVE_INFINITY;
  return Math.min(most, rejectLimit(total, SINGLES_LIMITS));
}

const SINGLES_LIMITS: RejectLimits = { share: 0.01, items: 5 };

/** Failures that count together. */
interface FailureLimit {
  readonly total: number;
  readonly most: number;
  readonly excused: ReadonlySet<string>;
  rejected: number;
  gone: number;
}

/**
 * Counts single items that could not be had, until there are so many that the service itself is at fault: of what is asked
 * for, those that failed for the first time; and of all that is wanted, each, or night after night a few more would be excused.
 */
export class FailureBudget {
  readonly #bounds: readonly FailureLimit[];

  constructor({ total, few, excused, wanted }: FailureScope, limits: RejectLimits | null) {
    const bound = (of: Pick<FailureScope, "total" | "few" | "excused">): FailureLimit => {
      return { ...of, most: singlesLimit(of, limits), rejected: 0, gone: 0 };
    };
    this.#bounds = [bound({ total, few, excused }), bound(all(wanted))];
  }

  /** Takes a failure of before the run was resumed. */
  note(id: string): void {
    for (const bound of this.#countedBy(id)) bound.rejected += 1;
  }

  /** Throws `thrown` for one too many. */
  reject(id: string, thrown: unknown): void {
    this.note(id);
    if (this.#withTooMany("rejected") !== undefined) throw thrown;
  }

  /** Takes an answer that is of another item, or of none. Throws for one too many. */
  rejectOther(id: string): void {
    this.note(id);
    this.#assertFew("rejected", "single-item requests were not answered with the item");
  }

  /** A few may be deleted while they are asked for; many are no accident. */
  assertFewGone(id: string): void {
    for (const bound of this.#countedBy(id)) bound.gone += 1;
    this.#assertFew("gone", "listed items returned 404 or 410 when asked for singly");
  }

  #countedBy(id: string): readonly FailureLimit[] {
    return this.#bounds.filter(({ excused }) => !excused.has(id));
  }

  #withTooMany(failure: "rejected" | "gone"): FailureLimit | undefined {
    return this.#bounds.find((bound) => bound[failure] > bound.most);
  }

  #assertFew(failure: "rejected" | "gone", what: string): void {
    const bound = this.#withTooMany(failure);
    if (bound === undefined) return;
    const wayOut = "ask the service's operator, or set `maxRejects`";
    const sentence = `${bound[failure]} of ${bound.total} ${what}, limit: ${bound.most}; ${wayOut}.`;
    throw new WarehouseError("source.rejects", sentence);
  }
}

/** Why one item alone may fail while the service is well; undefined: the failure is not the item's. */
export function itemsOwnFailure(thrown: unknown): string | undefined {
  if (!(thrown instanceof SourceError)) return undefined;
  const { code, status, message } = thrown;
  if (status === 403) return "the service denied access to this item (403)";
  if (status === 405) return "the service does not answer for this item (405)";
  if (status === 500) return "the service fails when it is asked for the item (500)";
  // With a status, it is the status that is wrong, and no item is to blame.
  return status === null && UNREADABLE.has(code) ? firstClause(message) : undefined;
}

/** Of answers that are of no use, however often they are asked for. */
const UNREADABLE: ReadonlySet<ErrorCode> = new Set(["source.too_large", "source.damaged", "source.protocol"]);

/** The cause without the way out. */
function firstClause(message: string): string {
  const [clause = message] = message.split(/[;.](?:\s|$)/);
  return clause.charAt(0).toLowerCase() + clause.slice(1);
}

export interface SingleItem extends Pick<ItemTask, "shape" | "whole" | "listed" | "page" | "position"> {
  readonly id: string;
  /** Of the dynamic set. */
  readonly columns: readonly string[];
  readonly landing: StageLanding<PageResponse> | StageLanding<ItemResponse>;
  readonly place: ResponseSlot;
}

/** Asks for an item. What is wrong with it alone is a reject, as long as the budget allows. */
export async function requestItem(
  context: ExtractContext,
  single: SingleItem,
  budget: FailureBudget,
  signal: AbortSignal,
): Promise<ItemResponse> {
  const answer = await requestUnrecorded(context, single, budget, signal);
  recordItemResponse(context, answer);
  if (answer.record !== null && isRejected(answer)) budget.rejectOther(single.id);
  return answer;
}

/** Whether there is neither a view of the item nor the word that it is gone. */
export function isRejected({ gone, read }: ItemResponse): boolean {
  return !gone && read === null;
}

export function recordItemResponse({ journal }: ExtractContext, { record, rejects }: ItemResponse): void {
  if (record !== null) journal.requests.add(record);
  journal.rejects.push(...rejects);
}

/** {@link requestItem}, not put on record. */
export async function requestUnrecorded(
  context: ExtractContext,
  single: SingleItem,
  budget: FailureBudget,
  signal: AbortSignal,
): Promise<ItemResponse> {
  const { id, shape, landing, page, position } = single;
  try {
    return await askSingle(context, single, signal);
  } catch (thrown) {
    const reason = itemsOwnFailure(thrown);
    if (reason === undefined) throw thrown;
    budget.reject(id, thrown);
    const place = { mode: "item", pass: landing.pass, page, position, contentId: id };
    const reject = { ...place, reason, document: "null" };
    return { id, shape, gone: false, read: null, rejects: [reject], record: null, isReused: false };
  }
}

async function askSingle(
  context: ExtractContext,
  single: SingleItem,
  signal: AbortSignal,
): Promise<ItemResponse> {
  const { client, clock, settings } = context;
  const { id, shape, columns, whole, listed, landing, place, page, position } = single;
  const lands = settings.shapes.includes(shape);
  const request = itemRequest({ id, mode: shape, columns, gallery: true });
  const { response, value } = await client.readAs(request, signal, async (answer) => {
    const body = bodyOf(answer, clock);
    const { observedAt } = body;
    const bytes = answer.body.byteLength;
    if (answer.status !== 200) return { observedAt, bytes, updatedAt: undefined, rejects: [] };
    const task = { shape, lands, page, position, contentId: id, whole, listed, body };
    return { observedAt, bytes, ...(await landing.item(place, task)) };
  });
  const { observedAt, bytes, updatedAt, rejects } = value;
  return {
    id,
    shape,
    gone: response.status !== 200,
    read: updatedAt === undefined ? null : { updatedAt },
    rejects,
    isReused: false,
    record: recordOf(response, {
      mode: "item",
      pass: landing.pass,
      page,
      position,
      contentId: id,
      observedAt,
      bytes,
    }),
  };
}
