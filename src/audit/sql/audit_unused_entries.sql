-- Mapping entries that no item uses, and why. The marks stand for conditions.
SELECT
  mapping.destination_id,
  destinations.destination,
  destinations.reception,
  mapping.custom_field_id,
  custom_fields.name AS custom_field,
  mapping.external_field_name,
  mapping.mapping_id,
  entry.mapping_value_id,
  entry.value_id,
  offered.value,
  offered.display,
  entry.external_value,
  CASE
    WHEN mapping.mapping_id <> target.mapping_id THEN 'an earlier mapping of the field for the destination counts'
    WHEN answer.mapping_value_id <> entry.mapping_value_id THEN 'an earlier entry for the value counts'
    WHEN offered.value_id IS NULL THEN 'the field does not offer the value'
    WHEN offered.archived THEN 'no item has the value, which is archived'
    ELSE 'no item has the value'
  END AS reason
FROM custom_field_mapping_values AS entry
JOIN (FROM custom_field_mappings WHERE /* destinations */ AND /* fields */) AS mapping USING (mapping_id)
ANTI JOIN audit_used_entries AS used ON used.mapping_value_id = entry.mapping_value_id
LEFT JOIN mapping_targets AS target
  ON target.destination_id = mapping.destination_id AND target.custom_field_id = mapping.custom_field_id
LEFT JOIN mapping_answers AS answer ON answer.mapping_id = mapping.mapping_id AND answer.value_id = entry.value_id
LEFT JOIN custom_field_select_values AS offered
  ON offered.custom_field_id = mapping.custom_field_id AND offered.value_id = entry.value_id
JOIN audit_receptions AS destinations ON destinations.destination_id = mapping.destination_id
LEFT JOIN custom_fields ON custom_fields.custom_field_id = mapping.custom_field_id
ORDER BY
  reception <> 'receiving',
  destination NULLS LAST,
  mapping.destination_id,
  custom_field NULLS LAST,
  mapping.ordinal,
  entry.ordinal
