import { z } from "zod";
import { basicItem } from "./basic.ts";
import { fullCustomField } from "./custom-field.ts";
import { extendedUser, user } from "./user.ts";
import { attachment, optionalText, text, textList } from "./values.ts";

/** An item at `detail=full`: everything of basic, and this. */
export const fullItem = basicItem
  .extend({
    last_updated_by_details: extendedUser.nullable().optional(),
    owner_details: extendedUser.nullable().optional(),
    owner: optionalText.optional().meta({ description: "User ID of the owner." }),
    attachments: z.array(attachment).optional(),
    content: text
      .nullable()
      .optional()
      .meta({ description: "HTML body; blank where the content type has none." }),
    custom_fields: z.array(fullCustomField).optional(),
    last_updated_by: user.nullable().optional(),
    library_tracking_url: optionalText.optional(),
    media_url: optionalText.optional(),
    persona_ids: textList.optional(),
    published_url: optionalText.optional(),
    stage_ids: textList.optional(),
    tags: textList.optional(),
  })
  .meta({ description: "A content item at detail=full." });
export type FullItem = z.infer<typeof fullItem>;
