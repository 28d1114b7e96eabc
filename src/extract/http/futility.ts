/** So many times at least the pace was lowered to no avail, and to this share of what it was. */
const MIN_DECREASES = 4;
const COSTLY = 0.6;

export interface Decrease {
  /** The same object for the same congestion, which may be measured better later. */
  readonly cycle: object;
  /** Requests let in since the refusal before. */
  readonly answered: number;
  /** Requests a second at that moment; `null`: requests did not wait for a pace. */
  readonly pace: number | null;
  /** Answers a second, pauses counted in. */
  readonly measured: number;
}

/**
 * Recognizes a service that refuses whatever the rate is, such as every fifth request: lower paces cost answers, and
 * there are as many of them between two refusals as before. Then nothing but the pauses that it asks for can help.
 */
export class Futility {
  /** Of refusals one after the other, at lower paces, with as many answers between them: the first with a pace, the last. */
  #first: Decrease | null = null;
  #last: Decrease | null = null;
  #decreases = 0;
  #isKnown = false;

  /** The pace to stay at, where a lower one is futile; else `null`. */
  judge(decrease: Decrease): number | null {
    const last = this.#last;
    if (last !== null && last.cycle === decrease.cycle) {
      if (this.#first === last) this.#first = decrease;
    } else {
      if (last !== null && !this.#goesOn(last, decrease)) this.#forget();
      // When the series began, the limit may have been another: the one after that is the first that counts.
      if (this.#last !== null) {
        this.#first ??= decrease;
        this.#decreases += 1;
      }
    }
    this.#last = decrease;
    const first = this.#first;
    if (first === null || first.pace === null) return null;
    this.#isKnown ||=
      this.#decreases >= MIN_DECREASES &&
      decrease.measured < COSTLY * first.measured &&
      (decrease.pace ?? first.pace) < COSTLY * first.pace;
    return this.#isKnown ? first.pace : null;
  }

  #goesOn(last: Decrease, { pace, answered }: Decrease): boolean {
    const isAlike = answered > last.answered / 2 && answered < last.answered * 2;
    return isAlike && (this.#isKnown || (pace !== null && pace <= (last.pace ?? pace)));
  }

  #forget(): void {
    this.#first = null;
    this.#last = null;
    this.#decreases = 0;
    this.#isKnown = false;
  }
}
