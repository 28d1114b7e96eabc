/** Where the answers of the lookups land: raw documents like those of the items, a file for each lookup. */
import type { Odd } from "../../api/settle.ts";
import type { Clock } from "../../common/clock.ts";
import { mayHoldLarge } from "../../common/json.ts";
import type { JsonObject } from "../../raw/document.ts";
import type { Drift } from "../../raw/drift.ts";
import type { PolicyOptions } from "../../raw/personal/policy.ts";
import { LOOKUP_ORDER, type LookupResource, lookupPreparer } from "../../raw/prepare.ts";
import { type LookupDocument, type LookupMode, NOT_REUSED, RawWriter } from "../../raw/raw-file.ts";
import type { RawFiles } from "../../raw/raw-files.ts";
import { PartWriter } from "../../storage/parquet-file.ts";
import { observedAtOf } from "../journal.ts";
import type { Answered, CustomFieldLookup, DestinationLookup } from "../lookups.ts";

export interface LookupLanding {
  readonly files: RawFiles;
  /** Is applied to the answers where they stand, before anything of them is written. */
  readonly personal: PolicyOptions;
  readonly drift: Drift;
  readonly clock: Clock;
}

/** Writes what was asked for and found, in the order of the answers. Errors: those of the disk. */
export function landLookups(
  destinations: DestinationLookup,
  fields: CustomFieldLookup,
  landing: LookupLanding,
): void {
  const writer = new RawWriter(new PartWriter());
  const prepare = lookupPreparer(landing.personal);
  const land = (
    mode: LookupMode,
    shape: LookupResource,
    found: readonly (JsonObject & { readonly id: string })[],
    answered: readonly Answered[],
  ): void => {
    const places = placesOf(answered, landing.clock);
    const documents = found.map((answer): LookupDocument => {
      const found = places.get(answer.id);
      if (found === undefined) throw new TypeError(`no answer of a lookup has the ID ${answer.id}`);
      const { observedAt, odd, ...place } = found;
      const unknown = prepare(shape, answer, odd, landing.drift);
      const text = JSON.stringify(answer);
      return {
        contentId: answer.id,
        mode,
        pass: 0,
        ...place,
        whole: true,
        view: { shape, order: LOOKUP_ORDER, observedAt },
        unknownFields: unknown.length,
        largeNumbers: mayHoldLarge(text),
        reuse: NOT_REUSED,
        document: [Buffer.from(text)],
      };
    });
    if (documents.length > 0) writer.write(landing.files.ofLookup(mode), documents);
    const nameless = answered.flatMap(({ rows }) => rows.filter(({ id }) => id === undefined));
    for (const _row of nameless) landing.drift.note(shape, "type", LOOKUP_ORDER, null);
  };
  land("custom_fields", "custom_field_definition", fields.definitions, fields.answered);
  land("destinations", "destination", destinations.destinations, destinations.answered);
}

type Place = Pick<LookupDocument, "page" | "position"> & {
  readonly observedAt: number;
  readonly odd: readonly Odd[];
};

/** By ID: where a row stands, the first of several. */
function placesOf(answered: readonly Answered[], clock: Clock): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const [index, { rows, response }] of answered.entries()) {
    const observedAt = observedAtOf(response, clock);
    for (const [position, { id, odd }] of rows.entries())
      if (id !== undefined && !places.has(id)) places.set(id, { page: index + 1, position, observedAt, odd });
  }
  return places;
}
