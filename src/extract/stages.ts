/** The extractor stages of a pipeline: what a run reads. */
import { z } from "zod";
import type { DestinationName } from "../api/destination.ts";
import { parseOptions } from "../common/parse-form.ts";
import type { Extractor } from "../pipeline.ts";
import type { Shape } from "../raw/document.ts";

/** Reads a listing: `dynamic` with the columns that the tables need, `full` with whole documents. */
export function listing(mode: Shape): Extractor {
  return { extract: "listing", mode: parseOptions("listing", z.enum(["dynamic", "full"]), mode) };
}

export interface SingleItemsOptions {
  /** `events`: items whose body type is `event`. Only these have fields that no list gives. */
  readonly of?: "events" | "all";
}

const singleItemsOptions = z.strictObject({ of: z.enum(["events", "all"]).default("events") });

/** Requests items one by one after the dynamic listing. `details` in the configuration overrides it. */
export function singleItems(options: SingleItemsOptions = {}): Extractor {
  return { extract: "single_items", ...parseOptions("singleItems", singleItemsOptions, options) };
}

export interface DestinationsOptions {
  /** Override the configuration. */
  readonly names?: readonly DestinationName[];
}

const destinationsOptions = z.strictObject({
  names: z.array(z.object({ name: z.string(), platform: z.string() })).optional(),
});

/** Looks up destinations by name and platform, for their rows and for mapped values. */
export function destinations(options: DestinationsOptions = {}): Extractor {
  const { names } = parseOptions("destinations", destinationsOptions, options);
  return { extract: "destinations", names };
}

export interface CustomFieldsOptions {
  /** Requested even if no item has them. */
  readonly names?: readonly string[];
}

const customFieldsOptions = z.strictObject({ names: z.array(z.string()).default([]) });

/**
 * Looks up the definitions of the custom fields that items have, with select values and mappings. Only full documents name
 * the fields: without `listing("full")` the names must be given.
 */
export function customFields(options: CustomFieldsOptions = {}): Extractor {
  return { extract: "custom_fields", ...parseOptions("customFields", customFieldsOptions, options) };
}
