/** One request for a single item: its answer, or why there is none. */

import { type ErrorCode, WarehouseError } from "../../common/errors.ts";
import type { ExtractContext } from "../context.ts";
import { itemRequest } from "../http/request.ts";
import { SourceError } from "../http/source-error.ts";
import { observedAtOf, recordOf } from "../journal.ts";
import type { SingleRead } from "../landing/checkpoint-form.ts";
import type { StageLanding } from "../landing/landing.ts";
import type { ItemTask } from "../landing/tasks.ts";

import { type RejectLimits, rejectLimit } from "../reject-limits.ts";

/** How many items may fail singly before the service itself is at fault, unless `maxRejects` says so. */
export const SINGLES_LIMITS: RejectLimits = { share: 0.01, items: 5 };

/** Counts single items that could not be had, until there are so many that the service itself is at fault. */
export class FailureBudget {
  readonly #total: number;
  readonly #most: number;
  rejected = 0;

  /** `total`: items that are asked for. */
  constructor(total: number, limits: RejectLimits) {
    this.#total = total;
    this.#most = rejectLimit(total, limits);
  }

  /** Throws `thrown` for one too many. */
  reject(thrown: unknown): void {
    this.rejected += 1;
    if (this.rejected > this.#most) throw thrown;
  }

  /** An answer that is of another item, or of none. */
  tooManyOthers(): WarehouseError {
    return this.#tooMany(this.rejected + 1, "single-item requests were not answered with the item");
  }

  /** A few may be deleted while they are asked for; many are no accident. */
  assertFewGone(gone: number): void {
    if (gone > this.#most)
      throw this.#tooMany(gone, "listed items returned 404 or 410 when asked for singly");
  }

  #tooMany(number: number, what: string): WarehouseError {
    const wayOut = "ask the service's operator, or set `maxRejects`";
    const sentence = `${number} of ${this.#total} ${what}, limit: ${this.#most}; ${wayOut}.`;
    return new WarehouseError("source.rejects", sentence);
  }
}

/** Why one item alone may fail while the service is well; undefined: the failure is not the item's. */
export function itemsOwnFailure(thrown: unknown): string | undefined {
  if (!(thrown instanceof SourceError)) return undefined;
  const { code, status, message } = thrown;
  if (status === 403) return "the service denied access to this item (403)";
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

export interface Single extends Pick<ItemTask, "shape" | "whole" | "group" | "page" | "position"> {
  readonly id: string;
  /** Of the dynamic set. */
  readonly columns: readonly string[];
  readonly landing: StageLanding;
}

/** Asks for an item. What is wrong with it alone is a reject, as long as the budget allows. */
export async function readSingle(
  context: ExtractContext,
  single: Single,
  budget: FailureBudget,
  signal: AbortSignal,
): Promise<SingleRead> {
  const answer = await answerOf(context, single, budget, signal);
  putOnRecord(context, answer);
  if (answer.record !== null && isRejected(answer)) budget.reject(budget.tooManyOthers());
  return answer;
}

/** Whether there is neither a view of the item nor the word that it is gone. */
export function isRejected({ gone, read }: SingleRead): boolean {
  return !gone && read === null;
}

export function putOnRecord({ journal }: ExtractContext, { record, rejects }: SingleRead): void {
  if (record !== null) journal.requests.add(record);
  journal.rejects.push(...rejects);
}

/** {@link readSingle}, not put on record. */
export async function answerOf(
  context: ExtractContext,
  single: Single,
  budget: FailureBudget,
  signal: AbortSignal,
): Promise<SingleRead> {
  const { id, shape, landing, page, position } = single;
  try {
    return await askSingle(context, single, signal);
  } catch (thrown) {
    const reason = itemsOwnFailure(thrown);
    if (reason === undefined) throw thrown;
    budget.reject(thrown);
    const place = { mode: "item", pass: landing.pass, page, position, contentId: id };
    const reject = { ...place, reason, document: "null" };
    return { id, shape, gone: false, read: null, rejects: [reject], record: null };
  }
}

async function askSingle(context: ExtractContext, single: Single, signal: AbortSignal): Promise<SingleRead> {
  const { client, clock, settings } = context;
  const { id, shape, columns, whole, landing, group, page, position } = single;
  const lands = settings.shapes.includes(shape);
  const request = itemRequest({ id, mode: shape, columns, gallery: true });
  const { response, value } = await client.readAs(request, signal, async (answer) => {
    const observedAt = observedAtOf(answer, clock);
    const bytes = answer.body.byteLength;
    if (answer.status !== 200) return { observedAt, bytes, updatedAt: undefined, rejects: [] };
    const body = { bytes: answer.body, contentEncoding: answer.contentEncoding, observedAt };
    const task = { shape, lands, group, page, position, contentId: id, whole, body };
    return { observedAt, bytes, ...(await landing.item(task)) };
  });
  const { observedAt, bytes, updatedAt, rejects } = value;
  return {
    id,
    shape,
    gone: response.status !== 200,
    read: updatedAt === undefined ? null : { updatedAt },
    rejects,
    record: recordOf(response, { mode: "item", pass: landing.pass, page, contentId: id, observedAt, bytes }),
  };
}
