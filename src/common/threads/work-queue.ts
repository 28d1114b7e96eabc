import PQueue from "p-queue";

/** Works on many requests, so many at a time. The first failure ends all; nobody needs to look at each promise. */
export class WorkQueue {
  /** Aborted by the first failure, or from outside: for everything that a task waits for. */
  readonly signal: AbortSignal;
  readonly #queue: PQueue;
  readonly #failure = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(concurrency: number, signal: AbortSignal) {
    this.#queue = new PQueue({ concurrency });
    this.signal = AbortSignal.any([signal, this.#failure.signal]);
  }

  /**
   * Queues a task, once few enough are waiting. Throws the first failure of another. A task that waits when that comes
   * is begun all the same, so that it can give back what it holds: whatever it asks for must heed `signal`.
   */
  async add(task: () => Promise<void>): Promise<void> {
    const { concurrency } = this.#queue;
    while (this.#queue.size >= concurrency) await this.#queue.onSizeLessThan(concurrency);
    this.signal.throwIfAborted();
    this.follow(this.#queue.add(task));
  }

  /** Takes the failure of work that goes on beside the tasks for one of theirs; `done` waits for it. */
  follow(work: Promise<unknown>): void {
    const settled = work
      .catch((error: unknown) => this.#failure.abort(error))
      .finally(() => this.#underWay.delete(settled));
    this.#underWay.add(settled);
  }

  /** Resolves when all tasks and all that is followed are done; throws the first failure. */
  async done(): Promise<void> {
    await this.settled();
    this.signal.throwIfAborted();
  }

  /** Resolves when nothing is under way any more, whatever failed. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }
}
