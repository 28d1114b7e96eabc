-- The changes of diff_shown, item by item; causes with the fewest changes come first.
SELECT
  array_to_string(changes.causes, ' ') AS causes,
  content.title,
  destinations.name AS destination,
  fields.name AS custom_field,
  changes.* EXCLUDE (causes)
FROM diff_shown AS changes
LEFT JOIN content USING (content_id)
LEFT JOIN diff_destinations AS destinations USING (destination_id)
LEFT JOIN diff_fields AS fields USING (custom_field_id)
ORDER BY
  changes.reception <> 'receiving',
  count(*) OVER (PARTITION BY changes.causes),
  changes.causes,
  changes.content_id,
  destination NULLS LAST,
  changes.destination_id,
  custom_field NULLS LAST,
  changes.custom_field_id,
  changes.value_number,
  changes.change,
  changes.value_before,
  changes.value_after
