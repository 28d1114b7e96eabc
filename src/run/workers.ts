/** A pool of staging threads. A group of pages stays with one thread, because its documents wait there. */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { asWarehouseError, isOutOfMemory, WarehouseError } from "../common/errors.ts";
import { SourceError } from "../extract/http/source-error.ts";
import type { SavedAnswer } from "../extract/landing/checkpoint-form.ts";
import type { StagingOptions } from "./staging.ts";
import type {
  CloseTask,
  DropTask,
  FlushResult,
  GroupResult,
  ItemResult,
  ItemTask,
  PageReply,
  PageTask,
  PairTask,
  RestoreTask,
  SaveTask,
  StagingTask,
  TransformResult,
  TransformTask,
} from "./tasks.ts";
import type { ReplyMessage, TaskFailure, TaskMessage, WorkerSetup } from "./worker.ts";

const WORKER = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/** A young generation that is larger makes threads that parse much take much more memory and hardly less time. */
const LIMITS = { maxYoungGenerationSizeMb: 36 };

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

class Thread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #failure: AbortController;
  #number = 0;

  /** `failure` is shared by the threads of a pool: what ends one of them ends the work of all. */
  constructor(setup: WorkerSetup, failure: AbortController) {
    this.#failure = failure;
    this.#worker = new Worker(WORKER, { workerData: setup, resourceLimits: LIMITS });
    this.#worker.on("message", (reply: ReplyMessage) => this.#settle(reply));
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

  async ask(task: StagingTask, transfer: ArrayBuffer[]): Promise<unknown> {
    this.#failure.signal.throwIfAborted();
    this.#number += 1;
    const message: TaskMessage = { number: this.#number, task };
    return new Promise((resolve, reject) => {
      this.#pending.set(message.number, { resolve, reject });
      this.#worker.postMessage(message, transfer);
    });
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle(reply: ReplyMessage): void {
    const pending = this.#pending.get(reply.number);
    this.#pending.delete(reply.number);
    if ("failure" in reply) pending?.reject(revive(reply.failure));
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

function revive(failure: TaskFailure): WarehouseError {
  const { code, message, attemptsAtMost } = failure;
  const error =
    attemptsAtMost === undefined
      ? new WarehouseError(code, message)
      : new SourceError(code, message, { attemptsAtMost });
  if (failure.stack !== undefined) error.stack = failure.stack;
  return error;
}

/** Results by kind of task, as {@link Staging} gives them. */
interface Results {
  page: PageReply;
  item: ItemResult;
  close: GroupResult;
  save: readonly SavedAnswer[];
  restore: TransformResult;
  drop: undefined;
  pair: TransformResult;
  transform: TransformResult;
  flush: FlushResult;
}

export class Workers implements AsyncDisposable {
  /** Aborted when a thread ends early, whether it had a task or not: nothing is to be waited for then. */
  readonly failure: AbortSignal;
  readonly #threads: readonly Thread[];

  constructor(count: number, pipelineUrl: string, staging: Omit<StagingOptions, "worker">) {
    const failure = new AbortController();
    this.failure = failure.signal;
    this.#threads = Array.from(
      { length: count },
      (_, worker) => new Thread({ pipelineUrl, staging: { ...staging, worker } }, failure),
    );
  }

  /** Sends a page to the thread of its group; its bytes move there. */
  async page(task: PageTask): Promise<Results["page"]> {
    return this.#ask<"page">(this.#of(task.group), task, task.body.bytes);
  }

  async item(task: ItemTask): Promise<Results["item"]> {
    return this.#ask<"item">(this.#of(task.group), task, task.body.bytes);
  }

  async close(task: CloseTask): Promise<Results["close"]> {
    return this.#ask<"close">(this.#of(task.group), task);
  }

  async save(task: SaveTask): Promise<Results["save"]> {
    return this.#ask<"save">(this.#of(task.group), task);
  }

  async restore(task: RestoreTask): Promise<Results["restore"]> {
    return this.#ask<"restore">(this.#of(task.group), task);
  }

  /** Tells all threads. */
  async drop(task: DropTask): Promise<void> {
    await Promise.all(this.#threads.map((thread) => this.#ask<"drop">(thread, task)));
  }

  async pair(task: PairTask): Promise<Results["pair"]> {
    return this.#ask<"pair">(this.#of(task.group), task);
  }

  /** Sends to the thread that has least to do. */
  async transform(task: TransformTask): Promise<Results["transform"]> {
    const [least] = [...this.#threads].sort((a, b) => a.load - b.load);
    return this.#ask<"transform">(least, task);
  }

  /** What all threads still hold. */
  async flush(): Promise<FlushResult[]> {
    return Promise.all(this.#threads.map((thread) => this.#ask<"flush">(thread, { kind: "flush" })));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.stop()));
  }

  #of(group: number): Thread | undefined {
    return this.#threads[group % this.#threads.length];
  }

  async #ask<Kind extends keyof Results>(
    thread: Thread | undefined,
    task: StagingTask,
    bytes?: Uint8Array,
  ): Promise<Results[Kind]> {
    if (thread === undefined) throw new RangeError("a pool has at least one thread");
    const transfer = bytes?.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
    return (await thread.ask(task, transfer)) as Results[Kind];
  }
}
