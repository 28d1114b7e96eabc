-- The changes of diff_listed, item by item, in the order of audit_diff_lines.
SELECT
  array_to_string(changes.causes, ' ') AS causes,
  changes.content_id,
  content.title,
  changes.destination_id,
  destinations.name AS destination,
  changes.custom_field_id,
  fields.name AS custom_field,
  changes.* EXCLUDE (causes, content_id, destination_id, custom_field_id)
FROM diff_listed AS changes
LEFT JOIN diff_titles AS content USING (content_id)
LEFT JOIN diff_destinations AS destinations USING (destination_id)
LEFT JOIN diff_fields AS fields USING (custom_field_id)
ORDER BY
  causes NULLS LAST,
  destination NULLS LAST,
  changes.destination_id,
  custom_field NULLS LAST,
  changes.custom_field_id,
  changes.content_id,
  changes.change,
  changes.ordinal,
  changes.value_before,
  changes.value_after
