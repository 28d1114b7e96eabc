/** Numbers the items of a run. */
import { compareUtf8 } from "../common/utf8-order.ts";

const DIGITS = 24;
/** An ID is kept in words of eight digits. */
const WORDS = 3;
const WORD_DIGITS = DIGITS / WORDS;
const BYTES_OF_A_WORD = 4;
const FIRST_IDS = 1024;
const FREE = -1;

/**
 * All item IDs of a run, numbered from 0 in the order in which they come, with the approximate size of each item, in about
 * 30 bytes an item. IDs are nearly always 24 hexadecimal digits; a map of strings takes 100 bytes for one.
 */
export class ItemIndex {
  #words = new Uint32Array(FIRST_IDS * WORDS);
  /** Hash table of numbers with linear probing; at most half of it is filled. */
  #table = new Int32Array(FIRST_IDS * 2).fill(FREE);
  readonly #others = new Map<string, number>();
  readonly #otherTexts = new Map<number, string>();
  /** The words of the current ID. */
  readonly #wanted = new Uint32Array(WORDS);
  /** Bytes of the ID to return: a string joined from its words would take three times the memory. */
  readonly #bytes = Buffer.alloc(WORDS * BYTES_OF_A_WORD);
  #size = 0;
  /** Approximate bytes of a document, by number. */
  #weights = new Float32Array(FIRST_IDS);
  readonly #pages = new Map<number, number[]>();

  get size(): number {
    return this.#size;
  }

  /** `undefined` if the ID has no number. */
  find(id: string): number | undefined {
    if (!this.#want(id)) return this.#others.get(id);
    const number = this.#table[this.#place()];
    return number === FREE ? undefined : number;
  }

  has(id: string): boolean {
    return this.find(id) !== undefined;
  }

  /** Returns the ID's number. A new ID gets the next one. */
  numberOf(id: string): number {
    if (this.#size * WORDS === this.#words.length) this.#grow();
    if (!this.#want(id)) return this.#numberOfOther(id);
    const place = this.#place();
    const known = this.#table[place] ?? FREE;
    if (known !== FREE) return known;
    const number = this.#size++;
    this.#words.set(this.#wanted, number * WORDS);
    this.#table[place] = number;
    return number;
  }

  idOf(number: number): string {
    const other = this.#otherTexts.get(number);
    if (other !== undefined) return other;
    for (let word = 0; word < WORDS; word++) {
      this.#bytes.writeUInt32BE(this.#words[number * WORDS + word] ?? 0, word * BYTES_OF_A_WORD);
    }
    return this.#bytes.toString("hex");
  }

  /** All numbers, in the order of the IDs' UTF-8 bytes. */
  sorted(): Uint32Array {
    return Uint32Array.from({ length: this.#size }, (_, number) => number).sort((a, b) =>
      this.#compare(a, b),
    );
  }

  /** Records the approximate bytes of a document of the item. The largest counts. */
  weigh(id: string, bytes: number): void {
    const number = this.numberOf(id);
    this.#weights[number] = Math.max(this.#weights[number] ?? 0, bytes);
  }

  /** Records the bytes of a page for each of its items. */
  weighPage(pass: number, page: number, bytesPerItem: number): void {
    const pages = this.#pages.get(pass) ?? [];
    this.#pages.set(pass, pages);
    while (pages.length < page) pages.push(0);
    pages[page - 1] = bytesPerItem;
  }

  /** Bytes per item of each page, by pass. */
  get pages(): ReadonlyMap<number, readonly number[]> {
    return this.#pages;
  }

  weightAt(number: number): number {
    return this.#weights[number] ?? 0;
  }

  /** Compares words, because digits sort like the numbers that they make. */
  #compare(a: number, b: number): number {
    if (this.#otherTexts.has(a) || this.#otherTexts.has(b)) return compareUtf8(this.idOf(a), this.idOf(b));
    for (let word = 0; word < WORDS; word++) {
      const difference = (this.#words[a * WORDS + word] ?? 0) - (this.#words[b * WORDS + word] ?? 0);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  #numberOfOther(id: string): number {
    const known = this.#others.get(id);
    if (known !== undefined) return known;
    const number = this.#size++;
    this.#others.set(id, number);
    this.#otherTexts.set(number, id);
    return number;
  }

  /** Index in the table of the current ID, or of the free place for it. */
  #place(): number {
    const wanted = this.#wanted;
    const a = wanted[0] ?? 0;
    const b = wanted[1] ?? 0;
    const c = wanted[2] ?? 0;
    const words = this.#words;
    const mask = this.#table.length - 1;
    for (let place = mixed(a, b, c) & mask; ; place = (place + 1) & mask) {
      const number = this.#table[place] ?? FREE;
      const at = number * WORDS;
      if (number === FREE || (words[at] === a && words[at + 1] === b && words[at + 2] === c)) return place;
    }
  }

  /** Transfers the buffers instead of copying them: a copy of a million IDs takes 20 MB. */
  #grow(): void {
    const words = new Uint32Array(this.#words.buffer.transfer(this.#words.byteLength * 2));
    this.#words = words;
    this.#weights = new Float32Array(this.#weights.buffer.transfer(this.#weights.byteLength * 2));
    this.#table = new Int32Array(this.#table.buffer.transfer(this.#table.byteLength * 2)).fill(FREE);
    for (let number = 0; number < this.#size; number++) {
      if (this.#otherTexts.has(number)) continue;
      this.#wanted.set(words.subarray(number * WORDS, (number + 1) * WORDS));
      this.#table[this.#place()] = number;
    }
  }

  /** Reads an ID into {@link #wanted}. Returns `false` if it is not 24 hexadecimal digits. */
  #want(id: string): boolean {
    if (id.length !== DIGITS) return false;
    for (let word = 0; word < WORDS; word++) {
      let value = 0;
      for (let i = word * WORD_DIGITS; i < (word + 1) * WORD_DIGITS; i++) {
        const digit = digitOf(id.charCodeAt(i));
        if (digit < 0) return false;
        value = value * 16 + digit;
      }
      this.#wanted[word] = value;
    }
    return true;
  }
}

/** Value of a hexadecimal digit, or -1. Capital letters do not count, because they would come back in lower case. */
function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : -1;
}

/** Hash of the words. Counters in IDs must not give neighbouring hashes. */
function mixed(a: number, b: number, c: number): number {
  let hash = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15) ^ b, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 13) ^ c, 0x27d4eb2f);
  return hash ^ (hash >>> 16);
}
