/** Requests one item singly: its response, or the reason why there is none. */
import type { ErrorCode } from "../../common/errors.ts";
import { itemRequest } from "../http/request.ts";
import { SourceError } from "../http/source-error.ts";
import type { ItemResponse } from "../landing/checkpoint.ts";
import { bodyOf, recordOf } from "../landing/journal.ts";
import type { ResponseSlot, StageLanding } from "../landing/landing.ts";
import type { ItemTask } from "../pages/tasks.ts";
import type { ExtractContext } from "./context.ts";
import type { FailureBudget } from "./failure-budget.ts";

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

export function recordItemResponse({ journal }: ExtractContext, { record, rejects }: ItemResponse): void {
  if (record !== null) journal.requests.push(record);
  journal.rejects.push(...rejects);
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
  { client, clock, settings }: ExtractContext,
  { id, shape, columns, whole, listed, landing, slot, page, position }: SingleItem,
  signal: AbortSignal,
): Promise<ItemResponse> {
  const lands = settings.shapes.includes(shape);
  const request = itemRequest({ id, mode: shape, columns, gallery: true });
  const { response, value } = await client.readAs(request, signal, async (received) => {
    const body = bodyOf(received, clock);
    const { observedAt } = body;
    const bytes = received.body.byteLength;
    if (received.status !== 200) return { observedAt, bytes, updatedAt: undefined, rejects: [] };
    const task = { shape, lands, page, position, contentId: id, whole, listed, body };
    return { observedAt, bytes, ...(await landing.item(slot, task)) };
  });
  const { observedAt, bytes, updatedAt, rejects } = value;
  const about = {
    mode: "item",
    pass: landing.pass,
    page,
    position,
    contentId: id,
    observedAt,
    bytes,
  } as const;
  return {
    id,
    shape,
    gone: response.status !== 200,
    updatedAt,
    rejects,
    record: recordOf(response, about),
  };
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
