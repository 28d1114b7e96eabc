/** What a run keeps account of while it extracts: requests, rejects, drift, descriptions, parts. */
import type { HttpResponse } from "../extract/client.ts";
import type { RequestMode } from "../extract/request.ts";
import type { StagedPart } from "../load/parts.ts";
import { Drift } from "../transform/drift.ts";
import { SharedStore } from "../transform/shared.ts";
import type { FlushResult, Reject } from "./staging.ts";

export interface RequestRecord {
  readonly mode: RequestMode;
  readonly sweep: number | null;
  readonly page: number | null;
  readonly nextPage: number | null;
  readonly previousPage: number | null;
  readonly contentId: string | null;
  readonly status: number;
  readonly attempts: number;
  readonly bytes: number;
  readonly milliseconds: number;
  /** Microseconds since 1970 UTC. */
  readonly observedAt: number;
  readonly sha256: string;
}

/** The parts of an answer that a record keeps. */
export function recordOf(
  response: HttpResponse,
  about: Pick<RequestRecord, "mode"> & Partial<RequestRecord> & { readonly observedAt: number },
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
    bytes: response.body.byteLength,
    milliseconds: response.milliseconds,
    sha256: response.sha256,
  };
}

export class Journal {
  readonly requests: RequestRecord[] = [];
  readonly rejects: Reject[] = [];
  readonly drift = new Drift();
  readonly store = new SharedStore();
  /** Staged parts by table. */
  readonly parts = new Map<string, StagedPart[]>();

  /** Takes over what a thread gave. */
  take(result: FlushResult): void {
    for (const { table, part } of result.parts) {
      const known = this.parts.get(table);
      if (known === undefined) this.parts.set(table, [part]);
      else known.push(part);
    }
    for (const sighting of result.sightings) this.store.add(sighting);
    for (const entry of result.drift) this.drift.add(entry);
  }
}
