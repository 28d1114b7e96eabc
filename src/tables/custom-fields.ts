import {
  boolean,
  columnsFrom,
  defineTable,
  EXTRA,
  instanceId,
  itemTable,
  json,
  REQUIRED,
  reference,
  required,
  sharedTable,
  text,
} from "./declare.ts";

const LOOKUP = "custom_field_definition";
const FIELD = "full:custom_fields[].*";
const DETAILS = "dynamic:custom_fields_details[].*";
const field = columnsFrom(FIELD);
const details = columnsFrom(DETAILS);
const SELECT_VALUES = [`${LOOKUP}:formatted_select_values`, "full:custom_fields[].formatted_select_values"];
const SELECT_VALUE = SELECT_VALUES.map((path) => `${path}[].*`).join(" ");

const option = (name: string, comment: string) =>
  boolean(`option_${name}`, `full:custom_fields[].options.${name}`, comment);

export const customFields = sharedTable({
  name: "custom_fields",
  comment: "Custom fields that editors fill in for items: their names, types and options.",
  key: ["custom_field_id"],
  references: [reference("instance_id", "instances")],
  columns: [
    text(
      "custom_field_id",
      `${LOOKUP}:id full:custom_fields[].id dynamic:custom_fields_details[].id`,
      "Custom field ID.",
      REQUIRED,
    ),
    text("name", `${LOOKUP} ${FIELD}`, "Technical name, by which content_wide has a column."),
    text("display_label", `${LOOKUP} ${FIELD} ${DETAILS}`, "Label that editors see."),
    text(
      "field_type",
      `${LOOKUP} ${FIELD} ${DETAILS}`,
      "Type: `text`, `image`, `select`, `multiselect`, `date`, `file`, or another.",
    ),
    field.text(
      "default_value",
      "Default that a text field offers to editors; an item without a value does not have it.",
    ),
    field.text("instructions", "Instructions for editors."),
    details.boolean("html", "Whether values are HTML."),
    field.boolean("visible_in_previews", "Whether the field is shown in previews."),
    field.boolean("visible_in_insights", "Whether the field is shown in insights."),
    option("editor_or_admin_only", "Whether only editors and administrators may set the field."),
    option("required_field", "Whether an item must have a value."),
    option("api_only", "Whether the field is set through the API only."),
    option("html", "Text fields: whether HTML is allowed."),
    option("multiline", "Text fields: whether several lines are allowed."),
    option("show_character_count", "Text fields: whether editors see the number of characters."),
    option("publish_as_array", "Select fields: whether values are published as an array."),
    option("publish_as_hash", "Select fields: whether values are published as a hash."),
    field.json("options", "Further options, as an object."),
    instanceId("full:custom_fields[].newsroom_id"),
    field.timestamp("created_at", "When the field was created."),
    required.boolean(
      "from_lookup",
      "Whether the service describes the field when asked for it; otherwise only items do, and its mappings are unknown.",
    ),
  ],
});

export const customFieldSelectValues = sharedTable({
  name: "custom_field_select_values",
  comment: "Values that a select or multiselect field offers to editors.",
  key: ["custom_field_id", "value_id"],
  references: [reference("custom_field_id", "custom_fields")],
  columns: [
    required.text("custom_field_id", "Custom field; custom_fields.custom_field_id."),
    text(
      "value_id",
      `${LOOKUP}:formatted_select_values ${LOOKUP}:formatted_select_values[].id ` +
        "full:custom_fields[].formatted_select_values full:custom_fields[].formatted_select_values[].id " +
        "full:custom_fields[].select_value_ids",
      "ID of the value.",
      REQUIRED,
    ),
    required.integer("ordinal", "Position in the field's list of values, from 0."),
    text("display", SELECT_VALUE, "Text that editors see."),
    text(
      "value",
      `${SELECT_VALUE} full:custom_fields[].select_value_ids full:custom_fields[].select_values`,
      "Text of the value; may differ from what is shown.",
    ),
    boolean(
      "archived",
      `${SELECT_VALUE} full:custom_fields[].archived_value_ids`,
      "Whether the value can no longer be chosen.",
    ),
  ],
});

export const contentCustomFieldValues = itemTable({
  name: "content_custom_field_values",
  comment: "Custom field values of an item, one row per value.",
  key: ["custom_field_id", "ordinal"],
  references: [reference("custom_field_id", "custom_fields")],
  columns: [
    text(
      "custom_field_id",
      "dynamic:custom_fields dynamic:custom_field_values dynamic:custom_field_value_ids " +
        "dynamic:custom_fields_details dynamic:custom_fields_details[].id " +
        "dynamic:previewable_custom_field_values full:custom_fields full:custom_fields[].id",
      "Custom field; custom_fields.custom_field_id.",
      REQUIRED,
    ),
    required.integer("ordinal", "Position among the field's values, from 0."),
    text(
      "value_id",
      "dynamic:custom_field_value_ids dynamic:custom_fields_details[].* dynamic:custom_fields " +
        "full:custom_fields[].value",
      "Value ID of a select or multiselect field; custom_field_select_values.value_id.",
    ),
    text(
      "value",
      "dynamic:custom_field_values dynamic:custom_fields_details[].* dynamic:custom_fields " +
        "full:custom_fields[].* dynamic:previewable_custom_field_values",
      "Value as text; numbers and booleans too.",
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
    details.timestamp("updated_at", "When the value was last changed."),
    boolean(
      "previewable",
      "dynamic:previewable_custom_field_values",
      "Whether the value is shown in previews and the gallery.",
    ),
    text(
      "mapping_input",
      "dynamic:custom_fields",
      "Value that mappings are applied to: the ID of a select value, or the text that the service gives instead.",
    ),
    boolean(
      "mapping_input_is_id",
      "dynamic:custom_fields dynamic:custom_field_value_ids",
      "Whether mapping_input is a value ID.",
    ),
  ],
});

const file = columnsFrom("dynamic:custom_field_values.{file}.*");

export const customFieldFiles = defineTable({
  name: "custom_field_files",
  comment: "Files that are values of custom fields of the types file and image.",
  stage: "pooled",
  key: ["file_id"],
  references: [reference("uploaded_by", "users", "user_id")],
  columns: [
    text("file_id", "dynamic:custom_field_values.{file}.id", "File ID.", REQUIRED),
    file.text("file_name", "File name."),
    file.text("file_extension", "File extension."),
    file.text("file_url", "URL of the file."),
    file.text("preview_url", "URL of a preview."),
    file.boolean("previewable", "Whether a preview exists."),
    file.text("uploaded_by", "User who uploaded the file; users.user_id."),
    file.text("image_title", "Title, for an image."),
    file.text("image_caption", "Caption, for an image."),
    file.text("image_alt", "Alternative text, for an image."),
    file.boolean("public", "Whether anyone may read the file."),
    file.text("subdomain", "Subdomain that serves the file."),
    file.timestamp("created_at", "When the file was uploaded."),
    file.timestamp("updated_at", "When the file was last changed."),
    EXTRA,
  ],
});
