/**
 * The requests of a run that were answered. As objects each would take 260 bytes, and as much again in a heap that is
 * let grow in proportion: they are kept as columns, in 128 bytes.
 */

import { compareUtf8 } from "../../common/utf8-order.ts";
import { Ids } from "../../raw/ids.ts";
import type { RequestMode } from "./request.ts";

/** In the order of the plan. */
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
  /** On the page, from 0: of the first item that was asked for; null: it is not a page's, or the page does not count. */
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
  /** Of the body, lower-case hexadecimal. */
  readonly sha256: string;
}

/** Figures of a record, in this order; what is null is not a number. The mode is its place in the plan. */
const FIGURES = [
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
type Figure = (typeof FIGURES)[number];

const WIDTH = FIGURES.length;
const PLACE_OF = Object.fromEntries(FIGURES.map((name, place) => [name, place])) as Record<Figure, number>;
const DIGEST_BYTES = 32;
const RECORDS_OF_A_CHUNK = 1024;

interface Chunk {
  readonly figures: Float64Array;
  readonly digests: Buffer;
}

export class Requests {
  readonly #chunks: Chunk[] = [];
  readonly #contentIds = new Ids();
  size = 0;
  /** Of all bodies as they came. */
  bytes = 0;

  add(record: RequestRecord): void {
    const place = this.size % RECORDS_OF_A_CHUNK;
    if (place === 0) this.#chunks.push(emptyChunk());
    const { figures, digests } = this.#chunkOf(this.size);
    for (const [at, name] of FIGURES.entries()) figures[place * WIDTH + at] = this.#figureOf(record, name);
    digests.write(record.sha256, place * DIGEST_BYTES, "hex");
    this.size += 1;
    this.bytes += record.bytes;
  }

  /** In the order of the plan, whatever the order in which they were answered. */
  *inOrder(): Generator<RequestRecord> {
    const places = Uint32Array.from({ length: this.size }, (_, place) => place);
    for (const place of places.sort((a, b) => this.#compare(a, b))) yield this.#at(place);
  }

  #figureOf(record: RequestRecord, name: Figure): number {
    const { contentId, mode } = record;
    if (name === "mode") return MODES.indexOf(mode);
    if (name === "contentId") return contentId === null ? Number.NaN : this.#contentIds.numberOf(contentId);
    return record[name] ?? Number.NaN;
  }

  #at(place: number): RequestRecord {
    const scalar = (name: Figure) => this.#scalar(place, name);
    const orNull = (name: Figure) => (Number.isNaN(scalar(name)) ? null : scalar(name));
    const from = (place % RECORDS_OF_A_CHUNK) * DIGEST_BYTES;
    return {
      mode: MODES[scalar("mode")] ?? "item",
      pass: orNull("pass"),
      page: orNull("page"),
      position: orNull("position"),
      nextPage: orNull("nextPage"),
      previousPage: orNull("previousPage"),
      contentId: this.#contentIdAt(place),
      status: scalar("status"),
      attempts: scalar("attempts"),
      bytes: scalar("bytes"),
      milliseconds: scalar("milliseconds"),
      observedAt: scalar("observedAt"),
      sha256: this.#chunkOf(place).digests.toString("hex", from, from + DIGEST_BYTES),
    };
  }

  #compare(a: number, b: number): number {
    return (
      (this.#scalar(a, "pass") || 0) - (this.#scalar(b, "pass") || 0) ||
      this.#scalar(a, "mode") - this.#scalar(b, "mode") ||
      (this.#scalar(a, "page") || 0) - (this.#scalar(b, "page") || 0) ||
      compareUtf8(this.#contentIdAt(a) ?? "", this.#contentIdAt(b) ?? "")
    );
  }

  #contentIdAt(place: number): string | null {
    const number = this.#scalar(place, "contentId");
    return Number.isNaN(number) ? null : this.#contentIds.idOf(number);
  }

  #scalar(place: number, name: Figure): number {
    const at = (place % RECORDS_OF_A_CHUNK) * WIDTH + PLACE_OF[name];
    return this.#chunkOf(place).figures[at] ?? Number.NaN;
  }

  #chunkOf(place: number): Chunk {
    const chunk = this.#chunks[Math.floor(place / RECORDS_OF_A_CHUNK)];
    if (chunk === undefined) throw new RangeError(`there is no request ${place}`);
    return chunk;
  }
}

function emptyChunk(): Chunk {
  return {
    figures: new Float64Array(RECORDS_OF_A_CHUNK * WIDTH),
    digests: Buffer.alloc(RECORDS_OF_A_CHUNK * DIGEST_BYTES),
  };
}
