/** Takes the steps of several workers, which run beside each other, in an order that a test gives. */
export class Turns<Worker extends string> {
  #order: Worker[];
  #under: Worker | undefined;
  readonly #waiting = new Map<Worker, () => void>();

  /** Each worker as often as it takes steps; steps beyond that come when the others have ended. */
  constructor(order: readonly Worker[]) {
    this.#order = [...order];
  }

  /** Ends the worker's step, and gives when its next one is due. */
  async next(worker: Worker): Promise<void> {
    if (this.#under === worker) this.#under = undefined;
    const due = Promise.withResolvers<void>();
    this.#waiting.set(worker, due.resolve);
    this.#begin();
    await due.promise;
  }

  /** The worker has ended: nobody waits for the steps that it did not take. */
  end(worker: Worker): void {
    if (this.#under === worker) this.#under = undefined;
    this.#order = this.#order.filter((each) => each !== worker);
    this.#begin();
  }

  #begin(): void {
    if (this.#under !== undefined) return;
    const worker = this.#order[0] ?? [...this.#waiting.keys()][0];
    const start = worker === undefined ? undefined : this.#waiting.get(worker);
    if (worker === undefined || start === undefined) return;
    this.#order.shift();
    this.#waiting.delete(worker);
    this.#under = worker;
    start();
  }
}
