/** Schemas of values that several resources share. Dates are plain texts here. */
import { z } from "zod";

export const text = z.string();
/** Text where the specification's default is null. */
export const optionalText = z.string().nullable();
/** ISO 8601 in UTC, `YYYY-MM-DDTHH:MM:SSZ`, perhaps with a fraction of a second. */
export const instant = z.string().describe("ISO 8601 instant in UTC.");
export const optionalInstant = z.string().nullable().describe("ISO 8601 instant in UTC, or null.");
export const flag = z.boolean();
export const integer = z.int();
/** A list of texts or IDs. A null element is a value that the service lost; it keeps its position. */
export const textList = z.array(z.string().nullable());

/** An object whose fields may be missing; other fields are kept. */
export function partial<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.looseObject(shape).partial();
}

/** Any text: unlisted body types are new values, not errors. Letters stand for vendors. */
export const bodyType = text.describe(
  "Body type; known: any_file, audio, document, automation_a_email, automation_a_landing_page, event, social_a, " +
    "doc_provider_doc, html, social_b, automation_b_email, automation_b_landing_page, no_body, automation_c_email, photo, " +
    "social_media, social_c, video, webinar.",
);

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

/** An attachment in `full` and dynamic. */
export const attachment = partial({
  id: text,
  url: text,
  filename: text,
  updated_at: instant,
  image_attributes: partial({ caption: optionalText, alt: optionalText, title: optionalText }).nullable(),
});
