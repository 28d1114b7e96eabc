import { z } from "zod";
import { flag, text } from "./values.ts";

/** A destination as the lookup `/destinations` answers it. */
export const destination = z
  .looseObject({
    id: text.describe("Equals `external_site_id` in custom field mappings."),
    identification: text.optional().describe("Destination name."),
    platform: text.optional().describe("Platform kind; the generic external destination has `External`."),
    supports_custom_field_mappings: flag.optional(),
  })
  .describe("A destination that content is sent to.");
export type DestinationDocument = z.infer<typeof destination>;

/** A destination, as people name it. */
export interface DestinationName {
  readonly name: string;
  readonly platform: string;
}

/** The platform of the generic external destination. */
export const DEFAULT_PLATFORM = "External";
