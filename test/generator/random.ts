/**
 * A small deterministic generator (sfc32), seeded by a path of labels: `Random.at(7, "item", 12)` gives the same
 * numbers on every machine, and what one label draws never moves what another draws. So item 900,000 can be made
 * without the 899,999 before it, and a new custom field leaves every other ID as it was.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  private constructor(state: readonly [number, number, number]) {
    [this.#a, this.#b, this.#c] = state;
    for (let round = 0; round < 12; round++) this.#word();
  }

  static at(seed: number, ...path: readonly (string | number)[]): Random {
    return new Random(hash(`${seed}/${path.join("/")}`));
  }

  /** At least 0, less than 1. */
  next(): number {
    return this.#word() / 0x1_0000_0000;
  }

  /** Both bounds inclusive. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    const chosen = list[Math.floor(this.next() * list.length)];
    if (chosen === undefined) throw new RangeError("Nothing to pick from: the list is empty.");
    return chosen;
  }

  /** One of the list, each as likely as its weight. */
  weighted<T extends { readonly weight: number }>(list: readonly T[]): T {
    let left = this.next() * list.reduce((sum, { weight }) => sum + weight, 0);
    for (const candidate of list) {
      left -= candidate.weight;
      if (left < 0) return candidate;
    }
    return this.pick(list);
  }

  /** Different elements in random order; all of them where `count` is larger than the list. */
  some<T>(list: readonly T[], count: number): T[] {
    const rest = [...list];
    const chosen: T[] = [];
    while (chosen.length < count && rest.length > 0) {
      chosen.push(...rest.splice(Math.floor(this.next() * rest.length), 1));
    }
    return chosen;
  }

  /** Lower-case hexadecimal digits. */
  hex(digits: number): string {
    let text = "";
    while (text.length < digits) text += this.#word().toString(16).padStart(8, "0");
    return text.slice(0, digits);
  }

  #word(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}

/** Three 32-bit words of a text; each is a multiplicative hash with its own start. */
function hash(text: string): [number, number, number] {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = 0xb7e15162;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 0x85ebca6b);
    b = Math.imul(b ^ code, 0xc2b2ae35);
    c = Math.imul(c ^ code, 0x27d4eb2f);
    a = (a << 13) | (a >>> 19);
    b = (b << 15) | (b >>> 17);
    c = (c << 17) | (c >>> 15);
  }
  return [a ^ (c >>> 15), b ^ (a >>> 13), c ^ (b >>> 16)];
}
