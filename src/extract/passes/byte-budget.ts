/** A bound on the bytes of pages that are under way: asked for, on their way, or waiting for a thread. */
export class ByteBudget {
  readonly #limit: number;
  #used = 0;
  readonly #waiting: { bytes: number; go: () => void }[] = [];

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  /** Resolves when there is room; one taker is let in whatever it wants, so that a large page does not wait forever. */
  async take(bytes: number): Promise<void> {
    if (this.#waiting.length > 0 || !this.#fits(bytes)) {
      await new Promise<void>((go) => this.#waiting.push({ bytes, go }));
    } else {
      this.#used += bytes;
    }
  }

  give(bytes: number): void {
    this.#used -= bytes;
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#used += next.bytes;
      next.go();
    }
  }

  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#limit;
  }
}
