/** Fields of an item at `detail=full`. */
import { z } from "zod";
import { basicItem } from "./basic.ts";
import { fullCustomField } from "./custom-field.ts";
import { field, schemasOf } from "./field.ts";
import { extendedUser, optionalUserId, user } from "./user.ts";
import { attachment, optionalText, text, textList } from "./values.ts";

/** Fields that `detail=full` adds to those of basic. */
export const FULL_FIELDS = {
  last_updated_by_details: field(extendedUser.nullable(), null),
  owner_details: field(extendedUser.nullable(), null),
  owner: field(optionalUserId.describe("User ID of the owner."), null),
  attachments: field(z.array(attachment), []),
  content: field(text.nullable().describe("HTML body; blank where the content type has none."), ""),
  custom_fields: field(z.array(fullCustomField), []),
  last_updated_by: field(user.nullable(), null),
  library_tracking_url: field(optionalText, null),
  media_url: field(optionalText, null),
  persona_ids: field(textList, []),
  published_url: field(optionalText, ""),
  stage_ids: field(textList, []),
  tags: field(textList, []),
};

export const fullItem = basicItem
  .extend(z.object(schemasOf(FULL_FIELDS)).partial().shape)
  .describe("A content item at detail=full.");
