-- The rows of diff_definitions with names.
SELECT changes.*, destinations.name AS destination, fields.name AS custom_field
FROM diff_definitions AS changes
LEFT JOIN diff_destinations AS destinations USING (destination_id)
LEFT JOIN diff_fields AS fields USING (custom_field_id)
ORDER BY
  list_position(['destination', 'mapping', 'entry', 'field', 'value'], changes.kind),
  destination NULLS LAST,
  changes.destination_id,
  custom_field NULLS LAST,
  changes.custom_field_id,
  changes.value_text NULLS LAST,
  changes.id
