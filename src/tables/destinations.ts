import {
  columnsFrom,
  contentId,
  defineTable,
  optional,
  REQUIRED,
  reference,
  required,
  sharedTable,
  text,
} from "./declare.ts";

const destination = columnsFrom("destination");
const MAPPING = "custom_field_definition:mappings";

export const destinations = sharedTable({
  name: "destinations",
  comment:
    "Systems that receive content, such as a website. Those that only a mapping names have an ID alone.",
  key: ["destination_id"],
  columns: [
    text("destination_id", `destination:id ${MAPPING}[].external_site_id`, "Destination ID.", REQUIRED),
    destination.text("identification", "Name; NULL where only a mapping names the destination."),
    destination.text("platform", "Platform of the destination; `External` is the generic one."),
    destination.boolean(
      "supports_custom_field_mappings",
      "Whether the destination supports custom field mappings; NULL where the service was not asked.",
    ),
  ],
});

export const customFieldMappings = sharedTable({
  name: "custom_field_mappings",
  comment: "Mappings of a custom field for a destination, with the field's name there.",
  key: ["mapping_id"],
  references: [reference("custom_field_id", "custom_fields"), reference("destination_id", "destinations")],
  columns: [
    text("mapping_id", `${MAPPING} ${MAPPING}[].id`, "Mapping ID.", REQUIRED),
    required.text("custom_field_id", "Custom field; custom_fields.custom_field_id."),
    text("destination_id", `${MAPPING}[].external_site_id`, "Destination; destinations.destination_id."),
    required.integer(
      "ordinal",
      "Position among the field's mappings, from 0; the first for a destination counts.",
    ),
    text("external_field_name", `${MAPPING}[].field_name`, "Name of the field at the destination."),
  ],
});

export const customFieldMappingValues = sharedTable({
  name: "custom_field_mapping_values",
  comment: "Mapping entries: the external value for each value of a mapped custom field.",
  key: ["mapping_value_id"],
  references: [reference("mapping_id", "custom_field_mappings")],
  columns: [
    text(
      "mapping_value_id",
      `${MAPPING}[].values ${MAPPING}[].values[].id`,
      "ID of the mapping entry.",
      REQUIRED,
    ),
    required.text("mapping_id", "Mapping; custom_field_mappings.mapping_id."),
    required.integer("ordinal", "Position among the mapping's entries, from 0."),
    text("value_id", `${MAPPING}[].values[].*`, "Value that is mapped; custom_field_select_values.value_id."),
    text("external_value", `${MAPPING}[].values[].value`, "Value that the destination receives instead."),
  ],
});

const destinationId = required.text("destination_id", "Destination; destinations.destination_id.");
const destinationUnsupported = optional.boolean(
  "destination_unsupported",
  "Whether the destination does not support mappings; NULL where that is unknown.",
);

export const contentMappedValues = defineTable({
  name: "content_mapped_values",
  comment:
    "Mapped values: for each item, destination and value of a mapped field, the external value, or why there is none.",
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
    required.text("custom_field_id", "Custom field; custom_fields.custom_field_id."),
    required.integer("ordinal", "Position among the field's values, from 0."),
    optional.text("external_field_name", "Name of the field at the destination."),
    optional.text("value_id", "Value of the item; custom_field_select_values.value_id."),
    optional.text(
      "value",
      "Text of the value; the value itself for a field whose type has no value mappings.",
    ),
    optional.text("mapping_id", "Mapping that was used; custom_field_mappings.mapping_id."),
    optional.text(
      "mapping_value_id",
      "Mapping entry that was used; custom_field_mapping_values.mapping_value_id.",
    ),
    optional.text(
      "external_value",
      "Value that the destination receives; NULL unless the status is `mapped`.",
    ),
    required.text(
      "status",
      "Result: `mapped`, `unmapped` (no entry for the value), `unknown_value` (not a value of the field) or `no_value_mapping` (the field's type has none).",
    ),
    required.boolean("value_archived", "Whether editors can no longer choose the value."),
    required.boolean("value_unknown", "Whether the field does not offer the value."),
    required.boolean(
      "ambiguous",
      "Whether several entries, mappings or select values fit; the first was used.",
    ),
    required.boolean("matched_by_text", "Whether the service gave the text of the value instead of its ID."),
    destinationUnsupported,
    required.boolean("collision", "Whether another field has the same external name at the destination."),
  ],
});

export const contentExternalPayloads = defineTable({
  name: "content_external_payloads",
  comment: "Payloads: the custom field values of an item as a destination would receive them.",
  stage: "derived",
  key: ["content_id", "destination_id"],
  references: [reference("content_id", "content"), reference("destination_id", "destinations")],
  columns: [
    contentId,
    destinationId,
    required.json(
      "payload",
      "Object with a key for each external field name, its value an array of external values.",
    ),
    destinationUnsupported,
  ],
});
