import {
  boolean,
  defineTable,
  EXTRA,
  integer,
  itemTable,
  json,
  REQUIRED,
  reference,
  text,
  timestamp,
} from "./declare.ts";

const LOOKUP = "custom_field_definition";
const FIELD = "full:custom_fields[].*";
const DETAILS = "dynamic:custom_fields_details[].*";
const SELECT_VALUES = [`${LOOKUP}:formatted_select_values`, "full:custom_fields[].formatted_select_values"];
const SELECT_VALUE = SELECT_VALUES.map((path) => `${path}[].*`).join(" ");

const option = (name: string, comment: string) =>
  boolean(`option_${name}`, `full:custom_fields[].options.${name}`, comment);

export const customFields = defineTable({
  name: "custom_fields",
  comment: "Custom fields that editors fill in for items: their names, types and options.",
  stage: "shared",
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
    text(
      "default_value",
      FIELD,
      "Default that a text field offers to editors; an item without a value does not have it.",
    ),
    text("instructions", FIELD, "Instructions for editors."),
    boolean("html", DETAILS, "Whether values are HTML."),
    boolean("visible_in_previews", FIELD, "Whether the field is shown in previews."),
    boolean("visible_in_insights", FIELD, "Whether the field is shown in insights."),
    option("editor_or_admin_only", "Whether only editors and administrators may set the field."),
    option("required_field", "Whether an item must have a value."),
    option("api_only", "Whether the field is set through the API only."),
    option("html", "Text fields: whether HTML is allowed."),
    option("multiline", "Text fields: whether several lines are allowed."),
    option("show_character_count", "Text fields: whether editors see the number of characters."),
    option("publish_as_array", "Select fields: whether values are published as an array."),
    option("publish_as_hash", "Select fields: whether values are published as a hash."),
    json("options", FIELD, "Further options, as an object."),
    text(
      "instance_id",
      "full:custom_fields[].newsroom_id",
      "Instance of the service; instances.instance_id.",
    ),
    timestamp("created_at", FIELD, "When the field was created."),
    boolean(
      "from_lookup",
      "",
      "Whether the service describes the field when asked for it; otherwise only items do, and its mappings are unknown.",
      REQUIRED,
    ),
    EXTRA,
  ],
});

export const customFieldSelectValues = defineTable({
  name: "custom_field_select_values",
  comment: "Values that a select or multiselect field offers to editors.",
  stage: "shared",
  key: ["custom_field_id", "value_id"],
  references: [reference("custom_field_id", "custom_fields")],
  columns: [
    text("custom_field_id", "", "Custom field; custom_fields.custom_field_id.", REQUIRED),
    text(
      "value_id",
      `${LOOKUP}:formatted_select_values ${LOOKUP}:formatted_select_values[].id ` +
        "full:custom_fields[].formatted_select_values full:custom_fields[].formatted_select_values[].id " +
        "full:custom_fields[].select_value_ids",
      "ID of the value.",
      REQUIRED,
    ),
    integer("ordinal", "", "Position in the field's list of values, from 0.", REQUIRED),
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
    EXTRA,
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
    integer("ordinal", "", "Position among the field's values, from 0.", REQUIRED),
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
    timestamp("updated_at", DETAILS, "When the value was last changed."),
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

const FILE = "dynamic:custom_field_values.{file}.*";

export const customFieldFiles = defineTable({
  name: "custom_field_files",
  comment: "Files that are values of custom fields of the types file and image.",
  stage: "pooled",
  key: ["file_id"],
  references: [reference("uploaded_by", "users", "user_id")],
  columns: [
    text("file_id", "dynamic:custom_field_values.{file}.id", "File ID.", REQUIRED),
    text("file_name", FILE, "File name."),
    text("file_extension", FILE, "File extension."),
    text("file_url", FILE, "URL of the file."),
    text("preview_url", FILE, "URL of a preview."),
    boolean("previewable", FILE, "Whether a preview exists."),
    text("uploaded_by", FILE, "User who uploaded the file; users.user_id."),
    text("image_title", FILE, "Title, for an image."),
    text("image_caption", FILE, "Caption, for an image."),
    text("image_alt", FILE, "Alternative text, for an image."),
    boolean("public", FILE, "Whether anyone may read the file."),
    text("subdomain", FILE, "Subdomain that serves the file."),
    timestamp("created_at", FILE, "When the file was uploaded."),
    timestamp("updated_at", FILE, "When the file was last changed."),
    EXTRA,
  ],
});
