import { contentId } from "./content.ts";
import {
  boolean,
  type Column,
  defineTable,
  EXTRA,
  integer,
  json,
  reference,
  text,
  timestamp,
} from "./declare.ts";

const LOOKUP = "custom_field_definition";

const option = (name: string, comment: string): Column =>
  boolean(`option_${name}`, `full:custom_fields[].options.${name}`, comment);

export const customFields = defineTable({
  name: "custom_fields",
  comment: "Custom field definitions, from the lookup and from the items that carry them.",
  stage: "shared",
  key: ["custom_field_id"],
  rows: { kind: "program" },
  references: [reference("instance_id", "instances")],
  columns: [
    text(
      "custom_field_id",
      `${LOOKUP}:id full:custom_fields[].id dynamic:custom_fields_details[].id`,
      "Custom field ID.",
      { required: true },
    ),
    text("name", `${LOOKUP}:name full:custom_fields[].name`, "Name for programs; the lookup's argument."),
    text(
      "display_label",
      `${LOOKUP}:display_label full:custom_fields[].display_label dynamic:custom_fields_details[].display_label`,
      "Label for people.",
    ),
    text(
      "field_type",
      `${LOOKUP}:field_type full:custom_fields[].field_type dynamic:custom_fields_details[].field_type`,
      "`text`, `image`, `select`, `multiselect`, `date`, `file`, or another.",
    ),
    text("default_value", "full:custom_fields[].default_value", "Default of a text field; never a value."),
    text("instructions", "full:custom_fields[].instructions", "Instructions for editors."),
    boolean("html", "dynamic:custom_fields_details[].html", "Whether values are HTML."),
    boolean("visible_in_previews", "full:custom_fields[].visible_in_previews", "Shown in previews."),
    boolean("visible_in_insights", "full:custom_fields[].visible_in_insights", "Shown in insights."),
    option("editor_or_admin_only", "Only editors and administrators may set it."),
    option("required_field", "A value is required."),
    option("api_only", "Set through the interface only."),
    option("html", "Text fields: HTML is allowed."),
    option("multiline", "Text fields: several lines."),
    option("show_character_count", "Text fields: shows the number of characters."),
    option("publish_as_array", "Select fields: published as an array."),
    option("publish_as_hash", "Select fields: published as a hash."),
    json("options", "full:custom_fields[].options", "Options that have no column of their own."),
    text("instance_id", "full:custom_fields[].newsroom_id", "Instance; instances.instance_id."),
    timestamp("created_at", "full:custom_fields[].created_at", "When the field was created."),
    boolean("from_lookup", "", "Whether the lookup of this run knew the field.", { required: true }),
    EXTRA,
  ],
});

export const customFieldSelectValues = defineTable({
  name: "custom_field_select_values",
  comment: "Values that a select or multiselect field offers.",
  stage: "shared",
  key: ["custom_field_id", "value_id"],
  rows: { kind: "program" },
  references: [reference("custom_field_id", "custom_fields")],
  columns: [
    text("custom_field_id", "", "Custom field.", { required: true }),
    text(
      "value_id",
      `${LOOKUP}:formatted_select_values ${LOOKUP}:formatted_select_values[].id ` +
        "full:custom_fields[].formatted_select_values full:custom_fields[].formatted_select_values[].id " +
        "full:custom_fields[].select_value_ids",
      "Value ID.",
      { required: true },
    ),
    integer("ordinal", "", "Position in the definition, from 0.", { required: true }),
    text(
      "display",
      `${LOOKUP}:formatted_select_values[].display full:custom_fields[].formatted_select_values[].display`,
      "Text shown to people.",
    ),
    text(
      "value",
      `${LOOKUP}:formatted_select_values[].value full:custom_fields[].formatted_select_values[].value ` +
        "full:custom_fields[].select_value_ids full:custom_fields[].select_values",
      "Text of the value; may differ from what is shown.",
    ),
    boolean(
      "archived",
      `${LOOKUP}:formatted_select_values[].archived full:custom_fields[].formatted_select_values[].archived ` +
        "full:custom_fields[].archived_value_ids",
      "Whether the value can no longer be chosen.",
    ),
    EXTRA,
  ],
});

export const contentCustomFieldValues = defineTable({
  name: "content_custom_field_values",
  comment: "Custom field values of an item, one row per value: five wire views of the same thing.",
  stage: "item",
  key: ["content_id", "custom_field_id", "ordinal"],
  rows: { kind: "program" },
  references: [reference("content_id", "content"), reference("custom_field_id", "custom_fields")],
  columns: [
    contentId,
    text(
      "custom_field_id",
      "dynamic:custom_fields dynamic:custom_field_values dynamic:custom_field_value_ids " +
        "dynamic:custom_fields_details dynamic:custom_fields_details[].id " +
        "dynamic:previewable_custom_field_values full:custom_fields full:custom_fields[].id",
      "Custom field; custom_fields.custom_field_id.",
      { required: true },
    ),
    integer("ordinal", "", "Position among the field's values, from 0.", { required: true }),
    text(
      "value_id",
      "dynamic:custom_field_value_ids dynamic:custom_fields_details[].value_id dynamic:custom_fields " +
        "full:custom_fields[].value",
      "Value ID of a select or multiselect field; custom_field_select_values.value_id.",
    ),
    text(
      "value",
      "dynamic:custom_field_values dynamic:custom_fields_details[].value dynamic:custom_fields " +
        "full:custom_fields[].value dynamic:previewable_custom_field_values",
      "Value as text; numbers and booleans as their JSON text.",
    ),
    json(
      "value_json",
      "dynamic:custom_field_values dynamic:custom_fields_details[].value full:custom_fields[].value dynamic:custom_fields",
      "Value that is neither text, number, boolean, value ID nor file.",
    ),
    text(
      "file_id",
      "dynamic:custom_field_values.{file}.id dynamic:custom_field_values dynamic:custom_fields " +
        "dynamic:custom_field_value_ids dynamic:custom_fields_details[].value_id " +
        "dynamic:custom_fields_details[].value full:custom_fields[].value",
      "File of a file or image field; custom_field_files.file_id.",
    ),
    timestamp("updated_at", "dynamic:custom_fields_details[].updated_at", "When the value was last changed."),
    boolean(
      "previewable",
      "dynamic:previewable_custom_field_values",
      "Whether the value is shown in previews and the gallery.",
    ),
    text(
      "mapping_input",
      "dynamic:custom_fields",
      "Value as `custom_fields` gives it: what the mapping procedure reads (rule 5).",
    ),
    boolean(
      "mapping_input_is_id",
      "dynamic:custom_fields dynamic:custom_field_value_ids",
      "Whether `custom_field_value_ids` has the same string in that place.",
    ),
    EXTRA,
  ],
});

const FILE = "dynamic:custom_field_values.{file}";

export const customFieldFiles = defineTable({
  name: "custom_field_files",
  comment: "Files that are values of file and image fields.",
  stage: "pooled",
  key: ["file_id"],
  rows: { kind: "program" },
  references: [reference("uploaded_by", "users", "user_id")],
  columns: [
    text("file_id", `${FILE}.id`, "File ID.", { required: true }),
    text("file_name", `${FILE}.file_name`, "File name."),
    text("file_extension", `${FILE}.file_extension`, "Extension."),
    text("file_url", `${FILE}.file_url`, "URL."),
    text("preview_url", `${FILE}.preview_url`, "URL of a preview."),
    boolean("previewable", `${FILE}.previewable`, "Whether a preview exists."),
    text("uploaded_by", `${FILE}.uploaded_by`, "User who uploaded the file; users.user_id."),
    text("image_title", `${FILE}.image_title`, "Title of an image."),
    text("image_caption", `${FILE}.image_caption`, "Caption of an image."),
    text("image_alt", `${FILE}.image_alt`, "Text alternative of an image."),
    boolean("public", `${FILE}.public`, "Whether anyone may read the file."),
    text("subdomain", `${FILE}.subdomain`, "Subdomain that serves the file."),
    timestamp("created_at", `${FILE}.created_at`, "When the file was uploaded."),
    timestamp("updated_at", `${FILE}.updated_at`, "When the file was last changed."),
    EXTRA,
  ],
});
