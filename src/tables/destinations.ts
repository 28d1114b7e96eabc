/** Tables of destinations, mappings and mapped values. */
import {
  boolean,
  columnsOf,
  contentId,
  defineTable,
  integer,
  json,
  reference,
  sharedTable,
  text,
} from "./declare.ts";

const destination = columnsOf("destination:");

export const destinations = sharedTable({
  name: "destinations",
  comment:
    "Systems that receive content, such as a website. Those that only a mapping names have an ID alone.",
  key: ["destination_id"],
  columns: [
    text("destination_id", {
      from: ["destination:id", "custom_field_definition:mappings[].external_site_id"],
      comment: "Destination ID.",
      required: true,
    }),
    destination.text("identification", {
      comment:
        "Name, as in content_published_urls.external_site_name; NULL where only a mapping names the destination.",
    }),
    destination.text("platform", { comment: "Platform of the destination; `External` is the generic one." }),
    destination.boolean("supports_custom_field_mappings", {
      comment:
        "Whether the destination supports custom field mappings; NULL where the service was not asked.",
    }),
    boolean("receives", {
      comment:
        "Whether the destination receives mapped values: true unless the service says that it supports no mappings, or `ignoreDestinations` names it.",
      required: true,
    }),
  ],
});

export const customFieldMappings = sharedTable({
  name: "custom_field_mappings",
  comment: "Mappings of a custom field for a destination, with the field's name there.",
  key: ["mapping_id"],
  references: [reference("custom_field_id", "custom_fields"), reference("destination_id", "destinations")],
  columns: [
    text("mapping_id", {
      from: ["custom_field_definition:mappings", "custom_field_definition:mappings[].id"],
      comment: "Mapping ID.",
      required: true,
    }),
    text("custom_field_id", { comment: "Custom field → custom_fields.custom_field_id.", required: true }),
    text("destination_id", {
      from: ["custom_field_definition:mappings[].external_site_id"],
      comment: "Destination → destinations.destination_id.",
    }),
    integer("ordinal", {
      comment: "Position among the field's mappings, from 0; the first for a destination counts.",
      required: true,
    }),
    text("external_field_name", {
      from: ["custom_field_definition:mappings[].field_name"],
      comment: "Name of the field at the destination.",
    }),
  ],
});

export const customFieldMappingValues = sharedTable({
  name: "custom_field_mapping_values",
  comment: "Mapping entries: the external value for each value of a mapped custom field.",
  key: ["mapping_value_id"],
  references: [reference("mapping_id", "custom_field_mappings")],
  columns: [
    text("mapping_value_id", {
      from: ["custom_field_definition:mappings[].values", "custom_field_definition:mappings[].values[].id"],
      comment: "ID of the mapping entry.",
      required: true,
    }),
    text("mapping_id", { comment: "Mapping → custom_field_mappings.mapping_id.", required: true }),
    integer("ordinal", { comment: "Position among the mapping's entries, from 0.", required: true }),
    text("value_id", {
      from: ["custom_field_definition:mappings[].values[].value_id"],
      comment: "Value that is mapped → custom_field_select_values.value_id.",
    }),
    text("external_value", {
      from: ["custom_field_definition:mappings[].values[].value"],
      comment: "Value that the destination receives instead.",
    }),
  ],
});

const destinationId = text("destination_id", {
  comment: "Destination → destinations.destination_id.",
  required: true,
});
const receives = boolean("receives", {
  comment: "Whether the destination receives it → destinations.receives.",
  required: true,
});

export const contentMappedValues = defineTable({
  name: "content_mapped_values",
  comment:
    "Mapped values: for each item, destination and value of a mapped field, the external value, or why there is none. A value may repeat: count items by DISTINCT content_id.",
  stage: "derived",
  key: ["content_id", "destination_id", "custom_field_id", "ordinal"],
  references: [
    reference("content_id", "content"),
    reference("destination_id", "destinations"),
    reference("custom_field_id", "custom_fields"),
  ],
  columns: [
    contentId,
    destinationId,
    text("custom_field_id", { comment: "Custom field → custom_fields.custom_field_id.", required: true }),
    integer("ordinal", { comment: "Position among the field's values, from 0.", required: true }),
    text("external_field_name", { comment: "Name of the field at the destination." }),
    text("value_id", { comment: "Value of the item → custom_field_select_values.value_id." }),
    text("value", {
      comment: "Text of the value; the value itself for a field whose type has no value mappings.",
    }),
    text("mapping_id", { comment: "Mapping that was used → custom_field_mappings.mapping_id." }),
    text("mapping_value_id", {
      comment: "Mapping entry that was used → custom_field_mapping_values.mapping_value_id.",
    }),
    text("external_value", { comment: "Value for the destination; NULL unless the status is `mapped`." }),
    text("status", {
      comment:
        "Result: `mapped`, `unmapped` (no entry for the value), `unknown_value` (not a value of the field) or `no_value_mapping` (the field's type has none).",
      required: true,
    }),
    boolean("value_archived", { comment: "Whether editors can no longer choose the value.", required: true }),
    boolean("value_unknown", { comment: "Whether the field does not offer the value.", required: true }),
    boolean("ambiguous", {
      comment: "Whether several entries, mappings or select values fit; the first was used.",
      required: true,
    }),
    boolean("matched_by_text", {
      comment: "Whether the service gave the text of the value instead of its ID.",
      required: true,
    }),
    boolean("destination_unsupported", {
      comment: "Whether the destination does not support mappings; NULL where that is unknown.",
    }),
    boolean("collision", {
      comment: "Whether another field has the same external name at the destination.",
      required: true,
    }),
    receives,
  ],
});

export const contentExternalPayloads = defineTable({
  name: "content_external_payloads",
  comment:
    "Payloads: the custom field values of an item as a destination receives them, or would if it received any.",
  stage: "derived",
  key: ["content_id", "destination_id"],
  references: [reference("content_id", "content"), reference("destination_id", "destinations")],
  columns: [
    contentId,
    destinationId,
    json("payload", {
      comment: "Object with a key for each external field name, its value an array of external values.",
      required: true,
    }),
    receives,
  ],
});
