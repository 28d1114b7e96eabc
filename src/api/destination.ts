import { z } from "zod";
import { flag, text } from "./values.ts";

/** A destination as the lookup `/destinations` answers it. */
export const destination = z
  .looseObject({
    id: text.meta({ description: "Equals `external_site_id` in custom field mappings." }),
    identification: text.optional().meta({ description: "Destination name." }),
    platform: text
      .optional()
      .meta({ description: "Platform kind; the generic external destination has `External`." }),
    supports_custom_field_mappings: flag.optional(),
  })
  .meta({ description: "A destination that content is sent to." });
export type Destination = z.infer<typeof destination>;

/** A destination, as people name it. */
export interface DestinationName {
  readonly name: string;
  readonly platform: string;
}
