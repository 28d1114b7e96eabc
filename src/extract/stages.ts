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

const singleItemsOptions = z.strictObject({ of: z.enum(["events", "all"]).default("events") });

/**
 * Requests items one by one after the dynamic listing: all, or only `events`, items whose body type is `event`. Only these
 * have fields that no list gives. `details` in the configuration overrides it.
 */
export function singleItems(options: { readonly of?: "events" | "all" } = {}): Extractor {
  return { extract: "single_items", ...parseOptions("singleItems", singleItemsOptions, options) };
}

const destinationsOptions = z.strictObject({
  names: z.array(z.object({ name: z.string(), platform: z.string() })).optional(),
});

/** Looks up destinations by name and platform, for their rows and for mapped values. `names` override the configuration. */
export function destinations(options: { readonly names?: readonly DestinationName[] } = {}): Extractor {
  const { names } = parseOptions("destinations", destinationsOptions, options);
  return { extract: "destinations", names };
}

const customFieldsOptions = z.strictObject({ names: z.array(z.string()).default([]) });

/**
 * Looks up the definitions of the custom fields that items have, with select values and mappings. Only full documents name
 * the fields: without `listing("full")` the names must be given. `names` are requested even if no item has them.
 */
export function customFields(options: { readonly names?: readonly string[] } = {}): Extractor {
  return { extract: "custom_fields", ...parseOptions("customFields", customFieldsOptions, options) };
}
