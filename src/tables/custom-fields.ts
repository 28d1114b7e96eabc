/** Tables of custom fields, their select values, and the values of items. */
import type { ApiField } from "../api/fields.ts";
import {
  boolean,
  columnsOf,
  defineTable,
  EXTRA,
  instanceId,
  integer,
  itemTable,
  json,
  reference,
  sharedTable,
  text,
} from "./declare.ts";

const file = columnsOf("dynamic:custom_field_values.{file}");
const fullField = columnsOf("full:custom_fields[]");
const fieldDetail = columnsOf("dynamic:custom_fields_details[]");
const definition = columnsOf("custom_field_definition:", "full:custom_fields[]");
const anyField = columnsOf(
  "custom_field_definition:",
  "full:custom_fields[]",
  "dynamic:custom_fields_details[]",
);
const selectValue = columnsOf(
  "custom_field_definition:formatted_select_values[]",
  "full:custom_fields[].formatted_select_values[]",
);

type OptionOf<Field> = Field extends `full:custom_fields[].options.${infer Name}` ? Name : never;

const option = (name: OptionOf<ApiField>, comment: string) =>
  boolean(`option_${name}`, { from: [`full:custom_fields[].options.${name}`], comment });

export const customFields = sharedTable({
  name: "custom_fields",
  comment: "Custom fields that editors fill in for items: their names, types and options.",
  key: ["custom_field_id"],
  references: [reference("instance_id", "instances")],
  columns: [
    text("custom_field_id", {
      from: ["custom_field_definition:id", "full:custom_fields[].id", "dynamic:custom_fields_details[].id"],
      comment: "Custom field ID.",
      required: true,
    }),
    definition.text("name", { comment: "Technical name, by which content_wide has a column." }),
    anyField.text("display_label", { comment: "Label that editors see." }),
    anyField.text("field_type", {
      comment: "Type: `text`, `image`, `select`, `multiselect`, `date`, `file`, or another.",
    }),
    fullField.text("default_value", {
      comment: "Default that a text field offers to editors; an item without a value does not have it.",
    }),
    fullField.text("instructions", { comment: "Instructions for editors." }),
    fieldDetail.boolean("html", { comment: "Whether values are HTML." }),
    fullField.boolean("visible_in_previews", { comment: "Whether the field is shown in previews." }),
    fullField.boolean("visible_in_insights", { comment: "Whether the field is shown in insights." }),
    option("editor_or_admin_only", "Whether only editors and administrators may set the field."),
    option("required_field", "Whether an item must have a value."),
    option("api_only", "Whether the field is set through the API only."),
    option("html", "Text fields: whether HTML is allowed."),
    option("multiline", "Text fields: whether several lines are allowed."),
    option("show_character_count", "Text fields: whether editors see the number of characters."),
    option("publish_as_array", "Select fields: whether values are published as an array."),
    option("publish_as_hash", "Select fields: whether values are published as a hash."),
    fullField.json("options", { comment: "Further options, as an object." }),
    instanceId(["full:custom_fields[].newsroom_id"]),
    fullField.timestamp("created_at", { comment: "When the field was created." }),
    boolean("from_lookup", {
      comment:
        "Whether the service describes the field when asked for it; otherwise only items do, and its mappings are unknown.",
      required: true,
    }),
  ],
});

export const customFieldSelectValues = sharedTable({
  name: "custom_field_select_values",
  comment: "Values that a select or multiselect field offers to editors.",
  key: ["custom_field_id", "value_id"],
  references: [reference("custom_field_id", "custom_fields")],
  columns: [
    text("custom_field_id", { comment: "Custom field → custom_fields.custom_field_id.", required: true }),
    text("value_id", {
      from: [
        "custom_field_definition:formatted_select_values",
        "custom_field_definition:formatted_select_values[].id",
        "full:custom_fields[].formatted_select_values",
        "full:custom_fields[].formatted_select_values[].id",
        "full:custom_fields[].select_value_ids",
      ],
      comment: "ID of the value.",
      required: true,
    }),
    integer("ordinal", { comment: "Position in the field's list of values, from 0.", required: true }),
    selectValue.text("display", { comment: "Text that editors see." }),
    text("value", {
      from: [
        "custom_field_definition:formatted_select_values[].value",
        "full:custom_fields[].formatted_select_values[].value",
        "full:custom_fields[].select_value_ids",
        "full:custom_fields[].select_values",
      ],
      comment: "Text of the value; may differ from what is shown.",
    }),
    boolean("archived", {
      from: [
        "custom_field_definition:formatted_select_values[].archived",
        "full:custom_fields[].formatted_select_values[].archived",
        "full:custom_fields[].archived_value_ids",
      ],
      comment: "Whether the value can no longer be chosen.",
    }),
  ],
});

export const contentTypeCustomFields = defineTable({
  name: "content_type_custom_fields",
  comment:
    "Custom fields of each content type: those that at least one full document of the type lists, with or without a value. If the service leaves empty fields out of its documents, these are the fields in use.",
  stage: "shared",
  key: ["content_type_id", "custom_field_id"],
  references: [reference("content_type_id", "content_types"), reference("custom_field_id", "custom_fields")],
  columns: [
    text("content_type_id", {
      from: ["basic:content_type", "basic:content_type.id", "full:content_type.id"],
      comment: "Content type → content_types.content_type_id.",
      required: true,
    }),
    text("custom_field_id", {
      from: ["full:custom_fields", "full:custom_fields[].id"],
      comment: "Custom field → custom_fields.custom_field_id.",
      required: true,
    }),
    integer("items", {
      comment: "Number of items of the type whose full document lists the field.",
      required: true,
    }),
  ],
});

export const contentCustomFieldValues = itemTable({
  name: "content_custom_field_values",
  comment:
    "Custom field values of an item, one row per value. A value may repeat: count items by DISTINCT content_id.",
  key: ["custom_field_id", "ordinal"],
  references: [reference("custom_field_id", "custom_fields")],
  columns: [
    text("custom_field_id", {
      from: [
        "dynamic:custom_fields",
        "dynamic:custom_field_values",
        "dynamic:custom_field_value_ids",
        "dynamic:custom_fields_details",
        "dynamic:custom_fields_details[].id",
        "dynamic:previewable_custom_field_values",
        "full:custom_fields",
        "full:custom_fields[].id",
      ],
      comment: "Custom field → custom_fields.custom_field_id.",
      required: true,
    }),
    integer("ordinal", { comment: "Position among the field's values, from 0.", required: true }),
    text("value_id", {
      from: [
        "dynamic:custom_field_value_ids",
        "dynamic:custom_fields_details[].value_id",
        "dynamic:custom_fields",
        "full:custom_fields[].value",
      ],
      comment: "Value ID of a select or multiselect field → custom_field_select_values.value_id.",
    }),
    text("value", {
      from: [
        "dynamic:custom_field_values",
        "dynamic:custom_fields_details[].value",
        "dynamic:custom_fields",
        "full:custom_fields[].value",
        "dynamic:previewable_custom_field_values",
      ],
      comment: "Value as text, as it was sent; numbers and booleans too.",
    }),
    text("select_value", {
      comment:
        "Value of the select value that the item means, however it was sent: by its ID, else by its text → custom_field_select_values.value. NULL where the field offers no such value.",
    }),
    json("value_json", {
      from: [
        "dynamic:custom_field_values",
        "dynamic:custom_fields_details[].value",
        "full:custom_fields[].value",
        "dynamic:custom_fields",
      ],
      comment: "Value that is neither text, number, boolean, value ID nor file.",
    }),
    text("file_id", {
      from: [
        "dynamic:custom_field_values.{file}.id",
        "dynamic:custom_field_values",
        "dynamic:custom_fields",
        "dynamic:custom_field_value_ids",
        "dynamic:custom_fields_details[].value_id",
        "dynamic:custom_fields_details[].value",
        "full:custom_fields[].value",
      ],
      comment: "File of a file or image field → custom_field_files.file_id.",
    }),
    fieldDetail.timestamp("updated_at", { comment: "When the value was last changed." }),
    boolean("previewable", {
      from: ["dynamic:previewable_custom_field_values"],
      comment: "Whether the value is shown in previews and the gallery.",
    }),
    text("mapping_input", {
      from: ["dynamic:custom_fields"],
      comment:
        "Value that mappings are applied to: the ID of a select value, or the text that the service gives instead.",
    }),
    boolean("mapping_input_is_id", {
      from: ["dynamic:custom_fields", "dynamic:custom_field_value_ids"],
      comment: "Whether mapping_input is a value ID.",
    }),
  ],
});

export const customFieldFiles = defineTable({
  name: "custom_field_files",
  comment: "Files that are values of custom fields of the types file and image.",
  stage: "pooled",
  key: ["file_id"],
  references: [reference("uploaded_by", "users", "user_id")],
  columns: [
    text("file_id", { from: ["dynamic:custom_field_values.{file}.id"], comment: "File ID.", required: true }),
    file.text("file_name", { comment: "File name." }),
    file.text("file_extension", { comment: "File extension." }),
    file.text("file_url", { comment: "URL of the file." }),
    file.text("preview_url", { comment: "URL of a preview." }),
    file.boolean("previewable", { comment: "Whether a preview exists." }),
    file.text("uploaded_by", { comment: "User who uploaded the file → users.user_id." }),
    file.text("image_title", { comment: "Title, for an image." }),
    file.text("image_caption", { comment: "Caption, for an image." }),
    file.text("image_alt", { comment: "Alternative text, for an image." }),
    file.boolean("public", { comment: "Whether anyone may read the file." }),
    file.text("subdomain", { comment: "Subdomain that serves the file." }),
    file.timestamp("created_at", { comment: "When the file was uploaded." }),
    file.timestamp("updated_at", { comment: "When the file was last changed." }),
    EXTRA,
  ],
});
