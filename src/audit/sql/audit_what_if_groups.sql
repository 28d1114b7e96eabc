-- The changes of what_if_changes per destination and custom field.
WITH of_item AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    count(*) AS values,
    count_if(change = 'gained') AS gained,
    count_if(change = 'lost') AS lost,
    count_if(change = 'changed') AS changed
  FROM what_if_changes
  GROUP BY content_id, destination_id, custom_field_id
)
SELECT
  of_item.destination_id,
  receptions.destination,
  receptions.reception,
  of_item.custom_field_id,
  custom_fields.name AS custom_field,
  count(*)::BIGINT AS items,
  sum(of_item.values)::BIGINT AS values,
  sum(of_item.gained)::BIGINT AS gained,
  sum(of_item.lost)::BIGINT AS lost,
  sum(of_item.changed)::BIGINT AS changed
FROM of_item
JOIN audit_receptions AS receptions USING (destination_id)
LEFT JOIN custom_fields USING (custom_field_id)
GROUP BY ALL
ORDER BY
  max(receptions.reception <> 'receiving'),
  items DESC,
  destination NULLS LAST,
  of_item.destination_id,
  custom_field NULLS LAST,
  of_item.custom_field_id
