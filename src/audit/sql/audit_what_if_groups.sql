-- The changes of what_if_changes per destination and custom field.
SELECT
  changes.destination_id,
  receptions.destination,
  receptions.reception,
  changes.custom_field_id,
  custom_fields.name AS custom_field,
  count(DISTINCT content_id) AS items,
  count(*) AS values,
  count_if(change = 'gained') AS gained,
  count_if(change = 'lost') AS lost,
  count_if(change = 'changed') AS changed
FROM what_if_changes AS changes
JOIN audit_receptions AS receptions USING (destination_id)
LEFT JOIN custom_fields USING (custom_field_id)
GROUP BY ALL
ORDER BY
  max(reception <> 'receiving'),
  items DESC,
  destination NULLS LAST,
  changes.destination_id,
  custom_field NULLS LAST,
  changes.custom_field_id
