/** Schema of a destination. */
import { z } from "zod";
import { flag, text } from "./values.ts";

/** A destination in a response of `/destinations`. */
export const destination = z
  .looseObject({
    id: text.describe("Equals `external_site_id` in custom field mappings."),
    identification: text.optional().describe("Destination name."),
    platform: text.optional().describe("Platform kind; the generic external destination has `External`."),
    supports_custom_field_mappings: flag.optional(),
  })
  .describe("A destination that content is sent to.");

/** Name and platform by which the configuration names a destination. */
export interface DestinationName {
  readonly name: string;
  readonly platform: string;
}

/** The platform of the generic external destination. */
export const DEFAULT_PLATFORM = "External";
