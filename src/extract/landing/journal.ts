/** Requests, rejects and drift of a run. */
import { compareUtf8 } from "../../common/utf8-order.ts";
import { Drift, type DriftEntry } from "../../raw/drift.ts";
import type { HttpResponse } from "../http/client.ts";
import type { RequestMode } from "../http/request.ts";
import type { Reject, ResponseBody } from "../pages/tasks.ts";

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

/** The body of a response, for a thread. */
export function bodyOf(response: HttpResponse): ResponseBody {
  const { body: bytes, contentEncoding, contentType, observedAt, dated } = response;
  return { bytes, contentEncoding, contentType, observedAt, dated };
}

export function recordOf(
  { status, attempts, bytes, milliseconds, observedAt, sha256 }: HttpResponse,
  about: Pick<RequestRecord, "mode"> & Partial<RequestRecord>,
): RequestRecord {
  return {
    pass: null,
    page: null,
    position: null,
    nextPage: null,
    previousPage: null,
    contentId: null,
    ...about,
    status,
    attempts,
    bytes,
    milliseconds,
    observedAt,
    sha256,
  };
}

export class Journal {
  /** Answered requests. */
  readonly requests: RequestRecord[] = [];
  readonly rejects: Reject[] = [];
  readonly drift = new Drift();
  /** Names of the custom fields in the documents. */
  readonly fieldNames = new Set<string>();

  takeDrift(entries: readonly DriftEntry[]): void {
    for (const entry of entries) this.drift.add(entry);
  }

  /** Records in the order in which a run requests them, whatever the order of the answers. */
  requestsInOrder(): RequestRecord[] {
    return this.requests.toSorted(
      (a, b) =>
        (a.pass ?? 0) - (b.pass ?? 0) ||
        MODES.indexOf(a.mode) - MODES.indexOf(b.mode) ||
        (a.page ?? 0) - (b.page ?? 0) ||
        compareUtf8(a.contentId ?? "", b.contentId ?? ""),
    );
  }
}
