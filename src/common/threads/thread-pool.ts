/**
 * Threads of one module, which alone knows its tasks: it calls {@link answerTasks}. A task goes to the thread of a
 * number, so that what belongs together stays in one memory, or to the one that has least to do.
 */
import { Worker } from "node:worker_threads";
import { asWarehouseError, isOutOfMemory, WarehouseError } from "../errors.ts";
import { type ErrorReviver, reviveError, type ThreadMessage, type ThreadReply } from "./thread.ts";

export interface ThreadPoolSettings {
  readonly module: URL;
  readonly threads: number;
  /** What a thread gets as `workerData`, by its number from 0. */
  readonly setup: (thread: number) => unknown;
  /** Errors of classes of their own; others arrive as a {@link WarehouseError} of the same code. */
  readonly revive?: ErrorReviver;
}

/** A young generation that is larger makes threads that parse much take much more memory and hardly less time. */
const LIMITS = { maxYoungGenerationSizeMb: 36 };

class Thread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #failure: AbortController;
  readonly #revive: ErrorReviver;
  #number = 0;

  /** `failure` is shared by the threads of a pool: what ends one of them ends the work of all. */
  constructor(
    { module, revive = () => undefined }: ThreadPoolSettings,
    workerData: unknown,
    failure: AbortController,
  ) {
    this.#failure = failure;
    this.#revive = revive;
    this.#worker = new Worker(module, { workerData, resourceLimits: LIMITS });
    this.#worker.on("message", (reply: ThreadReply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#fail(endedBy(error)));
    this.#worker.on("messageerror", (error) => this.#fail(endedBy(error)));
    this.#worker.on("exit", (code) => {
      this.#fail(new WarehouseError("internal", `A worker thread ended early (exit code ${code}).`));
    });
  }

  /** Tasks that wait for an answer. */
  get load(): number {
    return this.#pending.size;
  }

  async ask(task: unknown, transfer: readonly ArrayBuffer[]): Promise<unknown> {
    this.#failure.signal.throwIfAborted();
    const message: ThreadMessage = { number: ++this.#number, task };
    this.#worker.postMessage(message, transfer);
    const asked = Promise.withResolvers<unknown>();
    this.#pending.set(message.number, asked);
    return asked.promise;
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle(reply: ThreadReply): void {
    const pending = this.#pending.get(reply.number);
    this.#pending.delete(reply.number);
    if ("failure" in reply) pending?.reject(reviveError(reply.failure, this.#revive));
    else pending?.resolve(reply.result);
  }

  #fail(error: unknown): void {
    this.#failure.abort(error);
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

/** What nobody in the thread caught. */
function endedBy(thrown: unknown): WarehouseError {
  const error = asWarehouseError(thrown);
  if (error.code !== "internal" || isOutOfMemory(thrown)) return error;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new WarehouseError("internal", `A worker thread failed: ${message}.`, { cause: thrown });
}

/**
 * `Results`: by the `kind` of a task, what the threads answer. Errors of an answer: those that the task threw. The first
 * thread starts at once, another when there is something for it to do: small runs are done before a second has started.
 */
export class ThreadPool<Task extends { readonly kind: keyof Results }, Results extends object>
  implements AsyncDisposable
{
  /** Aborted when a thread ends early, whether it had a task or not: nothing is to be waited for then. */
  readonly failure: AbortSignal;
  readonly #start: (number: number) => Thread;
  /** Those that were started, by their numbers. */
  readonly #threads = new Map<number, Thread>();
  readonly size: number;

  constructor(options: ThreadPoolSettings) {
    const failure = new AbortController();
    this.failure = failure.signal;
    this.size = Math.max(1, options.threads);
    this.#start = (number) => new Thread(options, options.setup(number), failure);
    this.#thread(0);
  }

  #thread(number: number): Thread {
    const known = this.#threads.get(number);
    if (known !== undefined) return known;
    const started = this.#start(number);
    this.#threads.set(number, started);
    return started;
  }

  /** Sends a task to the thread of a number, always the same for the same one. */
  async ask<Kind extends Task["kind"]>(
    number: number,
    task: Task & { readonly kind: Kind },
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Results[Kind]> {
    return (await this.#thread(number % this.size).ask(task, transfer)) as Results[Kind];
  }

  #leastBusy(): Thread {
    const [least] = [...this.#threads.values()].toSorted((a, b) => a.load - b.load);
    if (least !== undefined && (least.load === 0 || this.#threads.size === this.size)) return least;
    const free = Array.from({ length: this.size }, (_, number) => number).find(
      (each) => !this.#threads.has(each),
    );
    return this.#thread(free ?? 0);
  }

  /** Sends a task to the thread that has least to do. */
  async askAny<Kind extends Task["kind"]>(
    task: Task & { readonly kind: Kind },
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Results[Kind]> {
    return (await this.#leastBusy().ask(task, transfer)) as Results[Kind];
  }

  /** Sends a task to all threads that were started. */
  async askAll<Kind extends Task["kind"]>(task: Task & { readonly kind: Kind }): Promise<Results[Kind][]> {
    const results = await Promise.all([...this.#threads.values()].map((thread) => thread.ask(task, [])));
    return results as Results[Kind][];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#threads.values()].map((thread) => thread.stop()));
  }
}
