import { z } from "zod";
import { contentType } from "./content-type.ts";
import { flag, instant, optionalInstant, optionalText, text, textList } from "./values.ts";

/** An item at `detail=basic`. */
export const basicItem = z
  .looseObject({
    id: text.meta({ description: "Content ID." }),
    archived: flag.optional(),
    assignee_id: optionalText.optional().meta({ description: "User ID of the assignee." }),
    campaign_ids: textList.optional().meta({ description: "Initiative IDs." }),
    content_type: z
      .union([contentType, z.string()])
      .optional()
      .meta({ description: "The content type: an object, or its ID." }),
    creator_id: optionalText.optional().meta({ description: "User ID of the creator." }),
    factory_url: text.optional().meta({ description: "Canonical content URL." }),
    next_task: optionalText
      .optional()
      .meta({ description: "Description of the next task; `Completed` if all tasks are completed." }),
    preferred_title: text.optional().meta({ description: "The title, or `(no title)`." }),
    progress_stage: text.optional().meta({ description: "planned, in_progress or complete." }),
    published_date: optionalInstant.optional(),
    slug: text.optional().meta({ description: "URL-safe, unique across all content." }),
    state: text.optional().meta({ description: "production, promotion or completed." }),
    title: optionalText.optional(),
    updated_at: instant.optional(),
    categories: textList.optional(),
  })
  .meta({ description: "A content item at detail=basic." });
export type BasicItem = z.infer<typeof basicItem>;
