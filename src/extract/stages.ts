/** Extractor stages: what a run reads. */
import type { DestinationName } from "../api/destination.ts";
import { isObject } from "../common/objects.ts";
import { isListOf, isText, optionFaults } from "../common/options.ts";
import { shown } from "../common/shown.ts";
import type { Extractor } from "../pipeline.ts";
import type { Shape } from "../raw/document.ts";

/** All items of a listing: `dynamic` has the columns that the tables need, `full` the whole documents. */
export function listing(mode: Shape): Extractor {
  const faults =
    mode === "dynamic" || mode === "full" ? [] : [`listing takes "dynamic" or "full", not ${shown(mode)}`];
  return withFaults({ extract: "listing", mode }, faults);
}

export interface SingleItemsOptions {
  /** `events`: items whose body type is `event`, which alone have fields that no list gives. */
  readonly of?: "events" | "all";
}

/** Items that are asked for one by one after the dynamic listing. `details` in the configuration goes before. */
export function singleItems(options: SingleItemsOptions = {}): Extractor {
  const { of = "events" } = options ?? {};
  const faults = optionFaults("singleItems", options, {
    of: (value) => value === "events" || value === "all" || 'is not "events" or "all"',
  });
  return withFaults({ extract: "single_items", of }, faults);
}

export interface DestinationsOptions {
  /** Instead of those of the configuration. */
  readonly names?: readonly DestinationName[];
}

/** Destinations by name and platform, for their rows and for mapped values. */
export function destinations(options: DestinationsOptions = {}): Extractor {
  const faults = optionFaults("destinations", options, { names: areDestinations });
  return withFaults({ extract: "destinations", names: options?.names }, faults);
}

export interface CustomFieldsOptions {
  /** Asked for whether an item carries them or not. */
  readonly names?: readonly string[];
}

/**
 * Definitions of the custom fields that items carry: their select values, and their mappings. Only full documents name
 * the fields; without listing("full") the names must be given.
 */
export function customFields(options: CustomFieldsOptions = {}): Extractor {
  const faults = optionFaults("customFields", options, { names: areNames });
  return withFaults({ extract: "custom_fields", names: options?.names ?? [] }, faults);
}

const areDestinations = isListOf(
  'objects such as { name: "Website", platform: "External" }',
  (each) => isObject(each) && isText(each.name) && isText(each.platform),
);
const areNames = isListOf("names", isText);

function withFaults(extractor: Extractor, faults: readonly string[]): Extractor {
  return faults.length === 0 ? extractor : { ...extractor, faults };
}
