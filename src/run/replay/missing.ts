/** What a pipeline needs of a run, and the run did not ask for: then it cannot be built from its raw documents. */
import type { ReplaySettings } from "../../config/config.ts";
import { planColumns } from "../../extract/column-plan.ts";
import type { Pipeline } from "../../pipeline.ts";
import type { ExtractRecord } from "../../raw/extract-record.ts";
import type { RawLookups } from "../../raw/raw-file.ts";

const SINGLE_ITEMS = ["none", "events", "all"] as const;

/** In words; empty: nothing. `answered`: what the run asked for, and what it was answered to lookups. */
export function missingFor(
  pipeline: Pipeline,
  wishes: ReplaySettings,
  answered: { readonly facts: ExtractRecord; readonly lookups: RawLookups },
): string[] {
  const { asked, unmatched } = answered.facts;
  const { columns, details } = planColumns(pipeline, wishes);
  const definitions = answered.lookups.definitions.map(({ answer }) => answer.name);
  const had = new Set([
    ...asked.shapes.map(ofListing),
    ...asked.columns.map(ofColumn(asked.aliases)),
    ...asked.destinations.map(ofDestination),
    ...(asked.definitions ? [DEFINITIONS] : []),
    ...[...definitions, ...unmatched.customFields].map(ofField),
  ]);
  const isLess = SINGLE_ITEMS.indexOf(details) > SINGLE_ITEMS.indexOf(asked.singleItems);
  const destinations = asked.allDestinations ? [] : (pipeline.destinations ?? wishes.destinations);
  const { customFields } = pipeline;
  const fields = customFields && asked.definitions ? [...customFields, ...wishes.customFields] : [];
  const wanted = [
    ...pipeline.listings.map(ofListing),
    ...columns.map(ofColumn(wishes.aliases)).sort(),
    ...destinations.map(ofDestination),
    ...(customFields === undefined ? [] : [DEFINITIONS]),
    ...fields.map(ofField),
  ];
  return [
    ...wanted.filter((each) => !had.has(each)),
    ...(isLess ? [`single items of ${details === "all" ? "all items" : details}`] : []),
  ];
}

const DEFINITIONS = "the definitions of custom fields";
const ofListing = (shape: string) => `the listing ${shape}`;
const ofColumn = (aliases: ReplaySettings["aliases"]) => (column: string) =>
  `the column ${aliases[column] ?? column}`;
const ofDestination = ({ name, platform }: { readonly name: string; readonly platform: string }) =>
  `the destination ${name} (${platform})`;
const ofField = (name: unknown) => `the custom field ${name}`;
