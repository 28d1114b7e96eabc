/** A pool of worker threads that run one module, or this thread in their place. */
import { extname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type MessagePort, Worker } from "node:worker_threads";
import { asWarehouseError, type ErrorCode, isOutOfMemory, WarehouseError } from "../errors.ts";

type Perform = (task: unknown) => unknown;

/** What a module of threads exports by default: it makes the function that performs the tasks of a thread. */
type PerformerMaker = (setup: unknown) => Perform | Promise<Perform>;

/** Sent to `threads.worker.ts` before the first task. */
interface WorkerSetup {
  readonly module: string;
  readonly setup: unknown;
}

interface ThreadPoolSettings {
  /** Its default export is a {@link PerformerMaker}. */
  readonly module: URL;
  /** 0: this thread performs the tasks. */
  readonly threads: number;
  /** Returns what is passed to the module's function, for a thread by its number from 0. */
  readonly setup: (thread: number) => unknown;
  /** Revives errors of subclasses; others arrive as a `WarehouseError` of the same code. */
  readonly revive?: ErrorReviver;
  /** Whether its threads are left to the next pool, which then starts none: to load the modules takes long. */
  readonly leavesThreads?: boolean;
}

const WORKER = new URL(`./threads.worker${extname(import.meta.url)}`, import.meta.url);

/** A larger young generation would cost threads that parse much memory and save hardly any time. */
const LIMITS = { maxYoungGenerationSizeMb: 36 };

/** Threads that a pool has left, without tasks. */
const spareWorkers: Worker[] = [];

class Thread {
  readonly #worker: Worker;
  readonly #isLeft: boolean;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #failure: AbortController;
  readonly #revive: ErrorReviver;
  #number = 0;

  /** `failure` is shared by all threads of a pool: when one ends, the work of all ends. */
  constructor(
    { module, revive = () => undefined, leavesThreads = false }: ThreadPoolSettings,
    setup: unknown,
    failure: AbortController,
  ) {
    this.#isLeft = leavesThreads;
    this.#failure = failure;
    this.#revive = revive;
    this.#worker = spareWorkers.pop() ?? new Worker(WORKER, { resourceLimits: LIMITS });
    this.#worker.ref();
    this.#worker.postMessage({ module: module.href, setup } satisfies WorkerSetup);
    this.#worker.on("message", (reply: ThreadReply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#fail(endedBy(error)));
    this.#worker.on("messageerror", (error) => this.#fail(endedBy(error)));
    this.#worker.on("exit", (code) => {
      this.#fail(new WarehouseError("internal", `A worker thread ended early (exit code ${code}).`));
    });
  }

  /** Number of tasks without a reply. */
  get load(): number {
    return this.#pending.size;
  }

  async ask(task: unknown, transfer: readonly ArrayBuffer[]): Promise<unknown> {
    this.#failure.signal.throwIfAborted();
    const number = ++this.#number;
    this.#worker.postMessage({ number, task }, transfer);
    const asked = Promise.withResolvers<unknown>();
    this.#pending.set(number, asked);
    return asked.promise;
  }

  async stop(): Promise<void> {
    const isIdle = this.#pending.size === 0 && !this.#failure.signal.aborted;
    if (!this.#isLeft || !isIdle) {
      await this.#worker.terminate();
      return;
    }
    // Node has listeners of its own for other events.
    for (const event of ["message", "messageerror", "error", "exit"]) this.#worker.removeAllListeners(event);
    this.#worker.unref();
    spareWorkers.push(this.#worker);
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

/** This thread in place of a worker: nothing is started, and other work runs between tasks. */
class ThisThread {
  readonly load = 0;
  readonly #perform: Promise<Perform>;

  constructor({ module }: ThreadPoolSettings, setup: unknown) {
    this.#perform = makePerformer({ module: module.href, setup });
  }

  /** Takes what is transferred and returns a copy of the result, as a worker does. */
  async ask(task: unknown, transfer: readonly ArrayBuffer[]): Promise<unknown> {
    const given = structuredClone(task, { transfer: [...transfer] });
    const perform = await this.#perform;
    await setImmediate();
    try {
      return structuredClone(perform(given));
    } catch (thrown) {
      throw asWarehouseError(thrown);
    }
  }

  async stop(): Promise<void> {}
}

/** The error of a thread that ended with an uncaught one. */
function endedBy(thrown: unknown): WarehouseError {
  const error = asWarehouseError(thrown);
  if (error.code !== "internal" || isOutOfMemory(thrown)) return error;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new WarehouseError("internal", `A worker thread failed: ${message}.`, { cause: thrown });
}

/**
 * `Results`: the result for each `kind` of task. Asking throws what the task threw. The first thread starts at once, others
 * when they are needed, since small runs end before a second thread has started.
 */
export class ThreadPool<Task extends { readonly kind: keyof Results }, Results extends object>
  implements AsyncDisposable
{
  /** Aborted when a thread ends early, with or without a task; then nothing more will come. */
  readonly failure: AbortSignal;
  readonly size: number;
  readonly #start: (number: number) => Thread | ThisThread;
  /** Started threads by number. */
  readonly #threads: (Thread | ThisThread)[] = [];

  constructor(options: ThreadPoolSettings) {
    const failure = new AbortController();
    this.failure = failure.signal;
    this.size = Math.max(1, options.threads);
    this.#start = (number) => {
      const setup = options.setup(number);
      return options.threads === 0 ? new ThisThread(options, setup) : new Thread(options, setup, failure);
    };
    this.#threads[0] = this.#start(0);
  }

  /** Sends a task to the thread for `number`. Tasks of one number share memory. */
  async ask<Kind extends Task["kind"]>(
    number: number,
    task: Task & { readonly kind: Kind },
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Results[Kind]> {
    const at = number % this.size;
    const thread = this.#threads[at] ?? this.#start(at);
    this.#threads[at] = thread;
    return (await thread.ask(task, transfer)) as Results[Kind];
  }

  /** Sends a task to the least busy thread; one is started only if all others have tasks. */
  async askAny<Kind extends Task["kind"]>(
    task: Task & { readonly kind: Kind },
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Results[Kind]> {
    const load = (number: number) => this.#threads[number]?.load ?? 0.5;
    const numbers = Array.from({ length: this.size }, (_, number) => number);
    const least = numbers.reduce((a, b) => (load(b) < load(a) ? b : a));
    return await this.ask(least, task, transfer);
  }

  /** Sends a task to all started threads. */
  async askAll<Kind extends Task["kind"]>(task: Task & { readonly kind: Kind }): Promise<Results[Kind][]> {
    const results = await Promise.all(this.#threads.filter(Boolean).map((thread) => thread.ask(task, [])));
    return results as Results[Kind][];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread?.stop()));
  }
}

type ThreadReply =
  | { readonly number: number; readonly result: unknown }
  | { readonly number: number; readonly failure: SentError };

async function makePerformer({ module, setup }: WorkerSetup): Promise<Perform> {
  const loaded: { readonly default: PerformerMaker } = await import(module);
  return await loaded.default(setup);
}

/** Replies to each task with what the function of the last setup returns or throws. */
export function answerTasks(port: MessagePort): void {
  let performer: Promise<Perform> | undefined;
  port.on("message", async (message: WorkerSetup | { readonly number: number; readonly task: unknown }) => {
    if ("module" in message) {
      performer = makePerformer(message);
      return;
    }
    const { number, task } = message;
    let reply: ThreadReply;
    try {
      reply = { number, result: (await performer)?.(task) };
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
  /** The cause with its own causes. */
  readonly cause: Error | undefined;
  /** Properties of the error that are a number, a text, a boolean or null. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Makes an error of its subclass; `undefined` if it had none. */
type ErrorReviver = (sent: SentError, options: { readonly cause?: unknown }) => WarehouseError | undefined;

function sendError(thrown: unknown): SentError {
  const error = asWarehouseError(thrown);
  const facts = Object.fromEntries(
    Object.entries(error).filter(([, value]) => typeof value !== "object" || value === null),
  );
  return { code: error.code, message: error.message, facts, cause: sentCause(error.cause) };
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

function reviveError(sent: SentError, revive: ErrorReviver): WarehouseError {
  const options = sent.cause === undefined ? {} : { cause: sent.cause };
  return revive(sent, options) ?? new WarehouseError(sent.code, sent.message, options);
}
