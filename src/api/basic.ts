/** Fields of an item at `detail=basic`. */
import { z } from "zod";
import { field, NO_DEFAULT, schemasOf } from "./field.ts";
import { optionalUserId } from "./user.ts";
import {
  contentType,
  flag,
  instant,
  optionalInstant,
  optionalText,
  partial,
  text,
  textList,
} from "./values.ts";

export const BASIC_FIELDS = {
  archived: field(flag, false),
  assignee_id: field(optionalUserId.describe("User ID of the assignee."), null),
  campaign_ids: field(textList.describe("Initiative IDs."), []),
  content_type: field(
    z.union([contentType, z.string()]).describe("The content type: an object, or its ID."),
    NO_DEFAULT,
  ),
  creator_id: field(optionalUserId.describe("User ID of the creator."), null),
  factory_url: field(text.describe("Canonical content URL."), NO_DEFAULT),
  id: field(text.describe("Content ID."), NO_DEFAULT),
  next_task: field(
    optionalText.describe("Description of the next task; `Completed` if all tasks are completed."),
    "Completed",
  ),
  preferred_title: field(text.describe("The title, or `(no title)`."), "(no title)"),
  progress_stage: field(text.describe("planned, in_progress or complete."), "planned"),
  published_date: field(optionalInstant, null),
  slug: field(text.describe("URL-safe, unique across all content."), NO_DEFAULT),
  state: field(text.describe("production, promotion or completed."), "production"),
  title: field(optionalText, null),
  updated_at: field(instant, NO_DEFAULT),
  categories: field(textList, NO_DEFAULT),
};

export const basicItem = partial(schemasOf(BASIC_FIELDS))
  .extend({ id: BASIC_FIELDS.id.schema })
  .describe("A content item at detail=basic.");
