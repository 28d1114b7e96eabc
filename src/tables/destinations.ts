import {
  boolean,
  contentId,
  defineTable,
  EXTRA,
  integer,
  json,
  REQUIRED,
  reference,
  text,
} from "./declare.ts";

const MAPPING = "custom_field_definition:mappings";

export const destinations = defineTable({
  name: "destinations",
  comment: "Destinations found by name and platform, and those that only a mapping names.",
  stage: "shared",
  key: ["destination_id"],
  columns: [
    text("destination_id", `destination:id ${MAPPING}[].external_site_id`, "Destination ID.", REQUIRED),
    text("identification", "destination", "Name; NULL where only a mapping names the destination."),
    text("platform", "destination", "Platform; `External` is the generic one."),
    boolean(
      "supports_custom_field_mappings",
      "destination",
      "Whether it supports custom field mappings; NULL where it was not looked up.",
    ),
    EXTRA,
  ],
});

export const customFieldMappings = defineTable({
  name: "custom_field_mappings",
  comment: "The external field name of a custom field at a destination.",
  stage: "shared",
  key: ["mapping_id"],
  references: [reference("custom_field_id", "custom_fields"), reference("destination_id", "destinations")],
  columns: [
    text("mapping_id", `${MAPPING} ${MAPPING}[].id`, "Mapping ID.", REQUIRED),
    text("custom_field_id", "", "Custom field; custom_fields.custom_field_id.", REQUIRED),
    text("destination_id", `${MAPPING}[].external_site_id`, "Destination; destinations.destination_id."),
    integer("ordinal", "", "Position in the field's mappings, from 0.", REQUIRED),
    text("external_field_name", `${MAPPING}[].field_name`, "Name of the field at the destination."),
    EXTRA,
  ],
});

export const customFieldMappingValues = defineTable({
  name: "custom_field_mapping_values",
  comment: "The external value of an internal value ID, in a mapping.",
  stage: "shared",
  key: ["mapping_value_id"],
  references: [reference("mapping_id", "custom_field_mappings")],
  columns: [
    text("mapping_value_id", `${MAPPING}[].values ${MAPPING}[].values[].id`, "Entry ID.", REQUIRED),
    text("mapping_id", "", "Mapping; custom_field_mappings.mapping_id.", REQUIRED),
    integer("ordinal", "", "Position in the mapping's values, from 0.", REQUIRED),
    text("value_id", `${MAPPING}[].values[].*`, "Internal value ID."),
    text("external_value", `${MAPPING}[].values[].value`, "External value."),
    EXTRA,
  ],
});

const destinationId = text("destination_id", "", "Destination; destinations.destination_id.", REQUIRED);
const destinationUnsupported = boolean(
  "destination_unsupported",
  "",
  "The destination supports no mappings; NULL where that is unknown.",
);

export const contentMappedValues = defineTable({
  name: "content_mapped_values",
  comment: "External values that an item produces for a destination, or why it produces none.",
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
    text("custom_field_id", "", "Custom field; custom_fields.custom_field_id.", REQUIRED),
    integer("ordinal", "", "Position among the field's values, from 0.", REQUIRED),
    text("external_field_name", "", "Name of the field at the destination."),
    text("value_id", "", "Value ID that was mapped."),
    text("value", "", "Text of the value; for a field without value mappings the value itself."),
    text("mapping_id", "", "Mapping that was used; custom_field_mappings.mapping_id."),
    text("mapping_value_id", "", "Entry that was used; custom_field_mapping_values.mapping_value_id."),
    text("external_value", "", "External value; NULL unless the status is `mapped`."),
    text("status", "", "`mapped`, `unmapped`, `unknown_value` or `no_value_mapping`.", REQUIRED),
    boolean("value_archived", "", "The select value is archived.", REQUIRED),
    boolean("value_unknown", "", "The value is none of the field's select values.", REQUIRED),
    boolean("ambiguous", "", "Several entries, mappings or select values fit; the first was used.", REQUIRED),
    boolean("matched_by_text", "", "The service sent the text of a value instead of its ID.", REQUIRED),
    destinationUnsupported,
    boolean("collision", "", "Another field has the same external name at this destination.", REQUIRED),
  ],
});

export const contentExternalPayloads = defineTable({
  name: "content_external_payloads",
  comment: "The payload object that a destination would receive for an item.",
  stage: "derived",
  key: ["content_id", "destination_id"],
  references: [reference("content_id", "content"), reference("destination_id", "destinations")],
  columns: [
    contentId,
    destinationId,
    json("payload", "", "One key per external field name, each an array of external values.", REQUIRED),
    destinationUnsupported,
  ],
});
