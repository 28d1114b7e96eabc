-- All mappings with their entries in source order; a mapping without entries has one row.
SELECT
  mapping.custom_field_id,
  custom_fields.name AS custom_field,
  mapping.destination_id,
  destinations.identification AS destination,
  mapping.mapping_id,
  mapping.external_field_name,
  entry.mapping_value_id,
  entry.value_id,
  offered.value,
  offered.display,
  entry.external_value
FROM custom_field_mappings AS mapping
LEFT JOIN custom_field_mapping_values AS entry USING (mapping_id)
LEFT JOIN custom_field_select_values AS offered
  ON offered.custom_field_id = mapping.custom_field_id AND offered.value_id = entry.value_id
LEFT JOIN custom_fields ON custom_fields.custom_field_id = mapping.custom_field_id
LEFT JOIN destinations ON destinations.destination_id = mapping.destination_id
ORDER BY mapping.custom_field_id, mapping.ordinal, mapping.mapping_id, entry.ordinal, entry.mapping_value_id
