/** What a run keeps account of while it extracts: requests, rejects, drift. */
import type { Clock } from "../../common/clock.ts";
import { Drift, type DriftEntry } from "../../raw/drift.ts";
import type { HttpResponse } from "../http/client.ts";
import { RequestLog, type RequestRecord } from "../http/request-log.ts";
import type { Reject, ResponseBody } from "../pages/tasks.ts";

/** Microseconds since 1970 UTC of an answer: its `Date`, or this machine's clock where it has none. */
export function observedAtOf(response: HttpResponse, clock: Clock): number {
  return Math.floor((response.date?.getTime() ?? clock.now()) * 1000);
}

/** The body of an answer, on its way to a thread. */
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

/** The parts of an answer that a record keeps. Its body may have moved to a thread: `bytes` are counted before. */
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
  /** Items that there are: known when all are read, before that 0. */
  items = 0;
  readonly requests = new RequestLog();
  readonly rejects: Reject[] = [];
  readonly drift = new Drift();

  /** What can be gone back to. */
  mark() {
    return { rejects: this.rejects.length, drift: this.drift.sorted() };
  }

  /** Takes back rejects and drift of answers that do not count; that they were asked for stays on record. */
  backTo({ rejects, drift }: ReturnType<Journal["mark"]>): void {
    this.rejects.length = rejects;
    this.drift.take();
    this.takeDrift(drift);
  }

  takeDrift(entries: readonly DriftEntry[]): void {
    for (const entry of entries) this.drift.add(entry);
  }
}
