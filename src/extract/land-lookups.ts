/** Lands the responses of the lookups as raw documents, in a file for each lookup. */
import type { Clock } from "../common/clock.ts";
import { mayHoldLarge } from "../common/json.ts";
import type { Drift } from "../raw/drift.ts";
import type { PolicySettings } from "../raw/personal/policy.ts";
import { lookupPreparer } from "../raw/prepare.ts";
import { type LookupMode, NOT_REUSED, RawFileWriter } from "../raw/raw-file.ts";
import type { RawPaths } from "../raw/raw-folder.ts";
import { LOOKUP_ORDER, type LookupResource } from "../raw/unknown-fields.ts";
import { PartWriter } from "../storage/parquet-file.ts";
import { observedAtOf } from "./landing/journal.ts";
import type { CustomFieldLookup, DestinationLookup, LookupResponse } from "./lookups.ts";

/** Writes the rows that were requested, in the order of the responses. Throws errors of the disk. */
export function landLookups(
  destinations: DestinationLookup,
  fields: CustomFieldLookup,
  landing: {
    readonly files: RawPaths;
    /** Applied to the rows in place, before anything is written. */
    readonly personal: PolicySettings;
    readonly drift: Drift;
    readonly clock: Clock;
  },
): void {
  const { files, drift, clock } = landing;
  const writer = new RawFileWriter(new PartWriter());
  const prepare = lookupPreparer(landing.personal);
  const land = (
    mode: LookupMode,
    shape: LookupResource,
    requested: ReadonlySet<unknown>,
    responses: readonly LookupResponse[],
  ): void => {
    const documents = responses.flatMap(({ rows, response }, index) =>
      rows.flatMap(({ id, row, odd }, position) => {
        if (id === undefined) drift.note(shape, "type", LOOKUP_ORDER, null);
        if (id === undefined || row === undefined || !requested.has(row)) return [];
        const unknown = prepare(shape, row, odd, drift);
        const text = JSON.stringify(row);
        const document = {
          contentId: id,
          mode,
          pass: 0,
          page: index + 1,
          position,
          whole: true,
          view: { shape, order: LOOKUP_ORDER, observedAt: observedAtOf(response, clock) },
          unknownFields: unknown.length,
          largeNumbers: mayHoldLarge(text),
          reuse: NOT_REUSED,
          document: [Buffer.from(text)],
        };
        return [document];
      }),
    );
    if (documents.length > 0) writer.write(files.of(mode, 0, 0), documents);
  };
  land("custom_fields", "custom_field_definition", new Set(fields.definitions), fields.responses);
  land("destinations", "destination", new Set(destinations.destinations), destinations.responses);
}
