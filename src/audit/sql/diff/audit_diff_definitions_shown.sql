-- The rows of diff_definitions that match diff_filter, with names. Fields and select values belong to no destination.
SELECT changes.*, destinations.name AS destination, fields.name AS custom_field
FROM diff_definitions AS changes
CROSS JOIN diff_filter
LEFT JOIN diff_destinations AS destinations USING (destination_id)
LEFT JOIN diff_fields AS fields USING (custom_field_id)
WHERE (
    diff_filter.cause IS NULL
    OR diff_filter.cause = CASE changes.kind
      WHEN 'destination' THEN 'destination_changed'
      WHEN 'mapping' THEN 'mapping_changed'
      WHEN 'entry' THEN 'mapping_changed'
      ELSE 'definition_changed'
    END
  )
  AND (
    diff_filter.destination_ids IS NULL
    OR changes.destination_id IS NULL
    OR list_contains(diff_filter.destination_ids, changes.destination_id)
  )
  AND (
    diff_filter.field_ids IS NULL
    OR changes.custom_field_id IS NULL
    OR list_contains(diff_filter.field_ids, changes.custom_field_id)
  )
ORDER BY
  list_position(['destination', 'mapping', 'entry', 'field', 'value'], changes.kind),
  destination NULLS LAST,
  changes.destination_id,
  custom_field NULLS LAST,
  changes.custom_field_id,
  changes.value_text NULLS LAST,
  changes.id
