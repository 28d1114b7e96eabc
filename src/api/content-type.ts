/** Schema of a content type. */
import { z } from "zod";
import { instant, optionalText, partial, text } from "./values.ts";

/** Body types of the specification; letters stand for vendors. */
export const BODY_TYPES = [
  "any_file",
  "audio",
  "document",
  "automation_a_email",
  "automation_a_landing_page",
  "event",
  "social_a",
  "doc_provider_doc",
  "html",
  "social_b",
  "automation_b_email",
  "automation_b_landing_page",
  "no_body",
  "automation_c_email",
  "photo",
  "social_media",
  "social_c",
  "video",
  "webinar",
] as const;

/** Any text: unlisted body types are new values, not errors. */
export const bodyType = z.string().describe(`Body type; known: ${BODY_TYPES.join(", ")}.`);

/** `content_type` of basic and full, `content_type_details` and `full_content_type` of dynamic. */
export const contentType = partial({
  id: text,
  background_color: optionalText.describe("CSS color."),
  body_type: bodyType,
  display_name: text,
  field_name: text,
  icon: optionalText,
  icon_css_class: optionalText,
  newsroom_id: text.describe("Instance ID."),
  updated_at: instant,
}).describe("A content type.");
