/** Where the answers of the lookups land: raw documents like those of the items, a file for each lookup. */
import type { Clock } from "../common/clock.ts";
import { mayHoldLarge } from "../common/json.ts";
import type { Drift } from "../raw/drift.ts";
import type { PolicySettings } from "../raw/personal/policy.ts";
import { LOOKUP_ORDER, type LookupResource, lookupPreparer } from "../raw/prepare.ts";
import { type LookupDocument, type LookupMode, NOT_REUSED, RawFileWriter } from "../raw/raw-file.ts";
import type { RawPaths } from "../raw/raw-paths.ts";
import { PartWriter } from "../storage/parquet-file.ts";
import { observedAtOf } from "./landing/journal.ts";
import type { CustomFieldLookup, DestinationLookup, LookupResponse } from "./lookups.ts";

export interface LookupLanding {
  readonly files: RawPaths;
  /** Is applied to the answers where they stand, before anything of them is written. */
  readonly personal: PolicySettings;
  readonly drift: Drift;
  readonly clock: Clock;
}

/** Writes what was asked for and found, in the order of the answers. Errors: those of the disk. */
export function landLookups(
  destinations: DestinationLookup,
  fields: CustomFieldLookup,
  landing: LookupLanding,
): void {
  const writer = new RawFileWriter(new PartWriter());
  const prepare = lookupPreparer(landing.personal);
  const land = (
    mode: LookupMode,
    shape: LookupResource,
    found: readonly unknown[],
    answered: readonly LookupResponse[],
  ): void => {
    const taken = new Set(found);
    const documents = answered.flatMap(({ rows, response }, index) =>
      rows.flatMap(({ id, row, odd }, position): LookupDocument[] => {
        if (id === undefined) landing.drift.note(shape, "type", LOOKUP_ORDER, null);
        if (id === undefined || row === undefined || !taken.has(row)) return [];
        const unknown = prepare(shape, row, odd, landing.drift);
        const text = JSON.stringify(row);
        return [
          {
            contentId: id,
            mode,
            pass: 0,
            page: index + 1,
            position,
            whole: true,
            view: { shape, order: LOOKUP_ORDER, observedAt: observedAtOf(response, landing.clock) },
            unknownFields: unknown.length,
            largeNumbers: mayHoldLarge(text),
            reuse: NOT_REUSED,
            document: [Buffer.from(text)],
          },
        ];
      }),
    );
    if (documents.length > 0) writer.write(landing.files.ofLookup(mode), documents);
  };
  land("custom_fields", "custom_field_definition", fields.definitions, fields.answered);
  land("destinations", "destination", destinations.destinations, destinations.answered);
}
