/** Schemas of custom fields: definitions, mappings, and values of items. */
import { z } from "zod";
import { optionalUserId } from "./user.ts";
import { flag, instant, optionalText, partial, text, textList } from "./values.ts";

/** Values of other types are kept, too. */
const fieldType = text.describe("Field type; known: text, image, select, multiselect, date, file.");

export const selectValue = partial({
  id: text.describe("Value ID."),
  display: optionalText,
  value: optionalText.describe("The value's text, which may differ from `display`."),
  archived: flag,
}).describe("A value that a select or multiselect field can take.");

const mappedValue = partial({
  id: text,
  value_id: text.describe("ID of the select value."),
  value: optionalText.describe("The external value."),
}).describe("An internal value ID and its external value.");

export const mapping = partial({
  id: text,
  field_name: optionalText.describe("Field name in the external system."),
  external_site_id: text.describe("Destination ID."),
  values: z.array(mappedValue).nullable(),
}).describe("Name of a custom field and its values at one destination.");

/** A definition in a response of `/custom_fields_reference`. */
export const customFieldDefinition = z
  .looseObject({
    id: text,
    field_type: fieldType.optional(),
    display_label: optionalText.optional(),
    name: text.optional(),
    formatted_select_values: z
      .array(selectValue)
      .nullable()
      .optional()
      .describe("Select and multiselect fields only."),
    mappings: z.array(mapping).nullable().optional().describe("One entry per external destination."),
  })
  .describe("A custom field definition with its mappings.");

export const customFieldOptions = partial({
  editor_or_admin_only: flag,
  required_field: flag,
  api_only: flag,
  html: flag.describe("Text fields only."),
  multiline: flag.describe("Text fields only."),
  show_character_count: flag.describe("Text fields only."),
  publish_as_array: flag.describe("Select and multiselect fields only."),
  publish_as_hash: flag.describe("Select and multiselect fields only."),
});

/** An element of `custom_fields` in `full`: a custom field with its value. */
export const fullCustomField = partial({
  id: text,
  field_type: fieldType,
  display_label: optionalText,
  name: text,
  default_value: optionalText.describe("Text fields only. Never the value of an item."),
  created_at: instant,
  select_values: textList.nullable().describe("Select and multiselect fields only."),
  select_value_ids: z
    .record(z.string(), optionalText)
    .nullable()
    .describe("Value ID to value text; empty for text and image fields, null for date fields."),
  archived_value_ids: textList.nullable(),
  formatted_select_values: z.array(selectValue).nullable().describe("Select and multiselect fields only."),
  options: customFieldOptions.nullable(),
  newsroom_id: text.describe("Instance ID."),
  visible_in_previews: flag,
  visible_in_insights: flag,
  instructions: optionalText,
  value: z
    .unknown()
    .describe("Current value on this content: text, list of texts, the file ID of a file field, or null."),
}).describe("A custom field with its value on this content.");

/** Value of a file or image field in `custom_field_values`. */
export const fileValue = partial({
  id: text,
  previewable: flag,
  uploaded_by: optionalUserId.describe("User ID."),
  file_name: optionalText,
  file_url: optionalText,
  file_extension: optionalText,
  created_at: instant,
  updated_at: instant,
  preview_url: optionalText,
  image_title: optionalText,
  image_caption: optionalText,
  image_alt: optionalText,
  public: flag,
  subdomain: optionalText,
}).describe("A file as the value of a custom field.");

/** An element of `custom_fields_details`. */
export const customFieldDetail = partial({
  id: text,
  display_label: optionalText,
  field_type: fieldType,
  html: flag.nullable(),
  value: z.unknown(),
  value_id: z.unknown().describe("null, a value ID, or a list of value IDs."),
  updated_at: instant.nullable(),
}).describe("A custom field of this content with its value and value ID.");
