/** Records of the answered requests of a run. */
import { compareUtf8 } from "../../common/utf8-order.ts";
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

export class RequestLog {
  readonly #records: RequestRecord[] = [];
  /** Bytes of all bodies as they came. */
  bytes = 0;

  get size(): number {
    return this.#records.length;
  }

  add(record: RequestRecord): void {
    this.#records.push(record);
    this.bytes += record.bytes;
  }

  /** Records in the order in which a run requests them, whatever the order of the answers. */
  inOrder(): RequestRecord[] {
    return this.#records.toSorted(
      (a, b) =>
        (a.pass ?? 0) - (b.pass ?? 0) ||
        MODES.indexOf(a.mode) - MODES.indexOf(b.mode) ||
        (a.page ?? 0) - (b.page ?? 0) ||
        compareUtf8(a.contentId ?? "", b.contentId ?? ""),
    );
  }
}
