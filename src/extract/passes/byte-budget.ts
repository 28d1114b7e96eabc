/** Bounds the bytes of the pages under way: requested, in transit, or waiting for a thread. */
export class ByteBudget {
  readonly #limit: number;
  #used = 0;
  readonly #waiting: { bytes: number; resolve: () => void }[] = [];

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  /** Resolves when the bytes fit. If nothing is under way, any number fits, so that a large page does not wait forever. */
  async take(bytes: number): Promise<void> {
    if (this.#waiting.length > 0 || !this.#fits(bytes))
      await new Promise<void>((resolve) => this.#waiting.push({ bytes, resolve }));
    else this.#used += bytes;
  }

  give(bytes: number): void {
    this.#used -= bytes;
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#used += next.bytes;
      next.resolve();
    }
  }

  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#limit;
  }
}
