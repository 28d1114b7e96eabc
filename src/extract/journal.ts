/** What a run keeps account of while it extracts: requests, rejects, drift, descriptions, parts. */
import type { Clock } from "../common/clock.ts";
import type { HttpResponse } from "./http/client.ts";
import { parseJson } from "./pages/decode.ts";
import type { StagedPart } from "../load/parts.ts";
import { Drift, type DriftEntry } from "../raw/drift.ts";
import { SharedStore } from "../transform/entity-store.ts";
import { type RequestRecord, Requests } from "./http/requests.ts";
import type { FlushResult, Reject } from "../run/tasks.ts";

/** Microseconds since 1970 UTC of an answer: its `Date`, or this machine's clock where it has none. */
export function observedAtOf(response: HttpResponse, clock: Clock): number {
  return (response.date?.getTime() ?? clock.now()) * 1000;
}

/** The parts of an answer that a record keeps. Its body may have moved to a thread: `bytes` are counted before. */
export function recordOf(
  response: HttpResponse,
  about: Pick<RequestRecord, "mode" | "observedAt" | "bytes"> & Partial<RequestRecord>,
): RequestRecord {
  return {
    sweep: null,
    page: null,
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

export interface JournalMark {
  readonly rejects: number;
  readonly drift: readonly DriftEntry[];
}

export class Journal {
  /** Items that there are: known when all are read, before that 0. */
  items = 0;
  readonly requests = new Requests();
  readonly rejects: Reject[] = [];
  readonly drift = new Drift();
  readonly store = new SharedStore(parseJson);
  /** Staged parts by table. */
  readonly parts = new Map<string, StagedPart[]>();
  /** Bytes of its staged parts, roughly, by table. */
  readonly stagedBytes = new Map<string, number>();

  /** Takes over what a thread gave. */
  take(result: FlushResult): void {
    for (const { table, part, bytes } of result.parts) {
      this.stagedBytes.set(table, (this.stagedBytes.get(table) ?? 0) + bytes);
      const known = this.parts.get(table);
      if (known === undefined) this.parts.set(table, [part]);
      else known.push(part);
    }
    for (const sighting of result.sightings) this.store.add(sighting);
    this.takeDrift(result.drift);
  }

  /** What can be gone back to. */
  mark(): JournalMark {
    return { rejects: this.rejects.length, drift: this.drift.sorted() };
  }

  /** Takes back rejects and drift of answers that do not count; that they were asked for stays on record. */
  backTo({ rejects, drift }: JournalMark): void {
    this.rejects.length = rejects;
    this.drift.take();
    this.takeDrift(drift);
  }

  takeDrift(entries: readonly DriftEntry[]): void {
    for (const entry of entries) this.drift.add(entry);
  }

  /** Staged bytes of the table that has most of them. */
  widestTableBytes(): number {
    return Math.max(0, ...this.stagedBytes.values());
  }
}
