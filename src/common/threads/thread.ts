/** The inside of a worker thread: receives tasks and replies to each. */
import { parentPort } from "node:worker_threads";
import { asWarehouseError, type ErrorCode, WarehouseError } from "../errors.ts";

export interface ThreadMessage {
  readonly number: number;
  readonly task: unknown;
}

export type ThreadReply =
  | { readonly number: number; readonly result: unknown }
  | { readonly number: number; readonly failure: SentError };

/** Replies to each task with what `perform` returns or throws. */
export function answerTasks<Task>(perform: (task: Task) => unknown): void {
  const port = parentPort;
  if (port === null) throw new TypeError("this module must be the entry of a worker thread");
  port.on("message", ({ number, task }: { number: number; task: Task }) => {
    let reply: ThreadReply;
    try {
      reply = { number, result: perform(task) };
    } catch (thrown) {
      reply = { number, failure: sendError(thrown) };
    }
    port.postMessage(reply);
  });
}

/** A `WarehouseError` as data, because only classes of JavaScript itself can cross threads. */
interface SentError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly stack: string | undefined;
  /** The cause with its own causes. */
  readonly cause: Error | undefined;
  /** Properties of the error that are a number, a text, a boolean or null. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Makes an error of its subclass; `undefined` if it had none. */
export type ErrorReviver = (
  sent: SentError,
  options: { readonly cause?: unknown },
) => WarehouseError | undefined;

function sendError(thrown: unknown): SentError {
  const error = asWarehouseError(thrown);
  const facts = Object.fromEntries(
    Object.entries(error).filter(([, value]) => typeof value !== "object" || value === null),
  );
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  return { code: error.code, message: error.message, stack, facts, cause: sentCause(error.cause) };
}

/** A copy of the cause; `undefined` if it is not an error or cannot be cloned. */
function sentCause(cause: unknown): Error | undefined {
  if (!(cause instanceof Error)) return undefined;
  try {
    return structuredClone(cause);
  } catch {
    return undefined;
  }
}

export function reviveError(sent: SentError, revive: ErrorReviver): WarehouseError {
  const options = sent.cause === undefined ? {} : { cause: sent.cause };
  const error = revive(sent, options) ?? new WarehouseError(sent.code, sent.message, options);
  if (sent.stack !== undefined) error.stack = sent.stack;
  return error;
}
