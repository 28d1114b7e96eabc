/** Requests, rejects and drift of a run. */
import type { Clock } from "../../common/clock.ts";
import { Drift, type DriftEntry } from "../../raw/drift.ts";
import type { HttpResponse } from "../http/client.ts";
import { RequestLog, type RequestRecord } from "../http/request-log.ts";
import type { Reject, ResponseBody } from "../pages/tasks.ts";

/** When a response was sent, in microseconds since 1970 UTC: its `Date`, or this machine's clock without one. */
export function observedAtOf(response: HttpResponse, clock: Clock): number {
  return Math.floor((response.date?.getTime() ?? clock.now()) * 1000);
}

/** The body of a response, for a thread. */
export function bodyOf(response: HttpResponse, clock: Clock): ResponseBody {
  const { body: bytes, contentEncoding, contentType, date } = response;
  return {
    bytes,
    contentEncoding,
    contentType,
    observedAt: observedAtOf(response, clock),
    dated: date !== null,
  };
}

/** The record of a response. `bytes` are counted before, because the body may have moved to a thread. */
export function recordOf(
  response: HttpResponse,
  about: Pick<RequestRecord, "mode" | "observedAt" | "bytes"> & Partial<RequestRecord>,
): RequestRecord {
  return {
    pass: null,
    page: null,
    position: null,
    nextPage: null,
    previousPage: null,
    contentId: null,
    ...about,
    status: response.status,
    attempts: response.attempts,
    milliseconds: response.milliseconds,
    sha256: response.sha256,
  };
}

export class Journal {
  readonly requests = new RequestLog();
  readonly rejects: Reject[] = [];
  readonly drift = new Drift();

  takeDrift(entries: readonly DriftEntry[]): void {
    for (const entry of entries) this.drift.add(entry);
  }
}
