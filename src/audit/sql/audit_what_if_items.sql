-- The changes of what_if_changes, item by item.
SELECT
  content_id,
  content.title,
  changes.destination_id,
  receptions.destination,
  receptions.reception,
  changes.custom_field_id,
  custom_fields.name AS custom_field,
  changes.ordinal,
  changes.value_id,
  changes.value,
  changes.change,
  changes.name_before,
  changes.external_value_before,
  changes.name_after,
  changes.external_value_after
FROM what_if_changes AS changes
LEFT JOIN content USING (content_id)
JOIN audit_receptions AS receptions USING (destination_id)
LEFT JOIN custom_fields USING (custom_field_id)
ORDER BY content_id, changes.destination_id, changes.custom_field_id, changes.ordinal
