/** A queue for many concurrent tasks, of which the first failure ends all. */
import PQueue from "p-queue";

export class WorkQueue {
  /** Aborted by the first failure or from outside. Tasks pass it to whatever they wait for. */
  readonly signal: AbortSignal;
  readonly #queue: PQueue;
  readonly #failure = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(concurrency: number, signal: AbortSignal) {
    this.#queue = new PQueue({ concurrency });
    this.signal = AbortSignal.any([signal, this.#failure.signal]);
  }

  /**
   * Queues a task once few enough are waiting. Throws the first failure of another task. Waiting tasks still start after
   * a failure, so that they can release what they hold; they must heed `signal`.
   */
  async add(task: () => Promise<void>): Promise<void> {
    const { concurrency } = this.#queue;
    while (this.#queue.size >= concurrency) await this.#queue.onSizeLessThan(concurrency);
    this.signal.throwIfAborted();
    this.follow(this.#queue.add(task));
  }

  /** Treats other work like a task: its failure ends all, and `done` waits for it. */
  follow(work: Promise<unknown>): void {
    const settled = work
      .catch((error: unknown) => this.#failure.abort(error))
      .finally(() => this.#underWay.delete(settled));
    this.#underWay.add(settled);
  }

  /** Waits for all tasks and followed work; throws the first failure. */
  async done(): Promise<void> {
    await this.settled();
    this.signal.throwIfAborted();
  }

  /** Waits until nothing is under way, regardless of failures. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }
}
