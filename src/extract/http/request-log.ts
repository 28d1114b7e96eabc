/** Records of the answered requests of a run, kept in buffers: 128 bytes each, where an object takes 260. */
import { compareUtf8 } from "../../common/utf8-order.ts";
import { IdTable } from "../../raw/ids.ts";
import type { RequestMode } from "./request.ts";

/** Modes in the order in which a run requests them. */
const MODES = [
  "destinations",
  "dynamic",
  "item",
  "full",
  "basic",
  "custom_fields",
] as const satisfies RequestMode[];

export interface RequestRecord {
  readonly mode: (typeof MODES)[number];
  readonly pass: number | null;
  readonly page: number | null;
  /** Position on the page, from 0, of the first item requested; `null` if there is no page. */
  readonly position: number | null;
  readonly nextPage: number | null;
  readonly previousPage: number | null;
  readonly contentId: string | null;
  readonly status: number;
  readonly attempts: number;
  readonly bytes: number;
  readonly milliseconds: number;
  /** Microseconds since 1970 UTC. */
  readonly observedAt: number;
  /** SHA-256 of the body, lower-case hexadecimal. */
  readonly sha256: string;
}

/** Stored as 8-byte numbers, in this order: `null` as NaN, `mode` and `contentId` by their numbers. */
const NUMBERS = [
  "mode",
  "pass",
  "page",
  "position",
  "nextPage",
  "previousPage",
  "contentId",
  "status",
  "attempts",
  "bytes",
  "milliseconds",
  "observedAt",
] as const;
type NumberName = (typeof NUMBERS)[number];

const NUMBERS_BYTES = NUMBERS.length * 8;
const RECORD_BYTES = NUMBERS_BYTES + 32;
const CHUNK_RECORDS = 1024;
const OFFSETS = Object.fromEntries(NUMBERS.map((name, i) => [name, i * 8])) as Record<NumberName, number>;

export class RequestLog {
  readonly #chunks: Buffer[] = [];
  readonly #contentIds = new IdTable();
  size = 0;
  /** Bytes of all bodies as they came. */
  bytes = 0;

  add(record: RequestRecord): void {
    const { contentId } = record;
    const place = this.size++;
    if (place % CHUNK_RECORDS === 0) this.#chunks.push(Buffer.allocUnsafeSlow(CHUNK_RECORDS * RECORD_BYTES));
    const numbers: Record<NumberName, number | null> = {
      ...record,
      mode: MODES.indexOf(record.mode),
      contentId: contentId === null ? null : this.#contentIds.numberOf(contentId),
    };
    const bytes = this.#bytesOf(place);
    for (const name of NUMBERS) bytes.writeDoubleLE(numbers[name] ?? Number.NaN, OFFSETS[name]);
    bytes.write(record.sha256, NUMBERS_BYTES, "hex");
    this.bytes += record.bytes;
  }

  /** Records in the order in which a run requests them, whatever the order of the answers. */
  *inOrder(): Generator<RequestRecord> {
    const places = Uint32Array.from({ length: this.size }, (_, place) => place);
    for (const place of places.sort((a, b) => this.#compare(a, b))) yield this.#recordAt(place);
  }

  #recordAt(place: number): RequestRecord {
    const number = (name: NumberName) => this.#number(place, name);
    const values = NUMBERS.map((name) => [name, Number.isNaN(number(name)) ? null : number(name)]);
    return {
      ...(Object.fromEntries(values) as Omit<RequestRecord, "mode" | "contentId" | "sha256">),
      mode: MODES[number("mode")] ?? "item",
      contentId: this.#contentIdAt(place),
      sha256: this.#bytesOf(place).toString("hex", NUMBERS_BYTES),
    };
  }

  #compare(a: number, b: number): number {
    return (
      (this.#number(a, "pass") || 0) - (this.#number(b, "pass") || 0) ||
      this.#number(a, "mode") - this.#number(b, "mode") ||
      (this.#number(a, "page") || 0) - (this.#number(b, "page") || 0) ||
      compareUtf8(this.#contentIdAt(a) ?? "", this.#contentIdAt(b) ?? "")
    );
  }

  #contentIdAt(place: number): string | null {
    const number = this.#number(place, "contentId");
    return Number.isNaN(number) ? null : this.#contentIds.idOf(number);
  }

  #number(place: number, name: NumberName): number {
    const chunk = this.#chunks[Math.floor(place / CHUNK_RECORDS)];
    return chunk?.readDoubleLE((place % CHUNK_RECORDS) * RECORD_BYTES + OFFSETS[name]) ?? Number.NaN;
  }

  #bytesOf(place: number): Buffer {
    const at = (place % CHUNK_RECORDS) * RECORD_BYTES;
    const chunk = this.#chunks[Math.floor(place / CHUNK_RECORDS)];
    if (chunk === undefined) throw new RangeError(`there is no request ${place}`);
    return chunk.subarray(at, at + RECORD_BYTES);
  }
}
