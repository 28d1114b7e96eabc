-- Rows of the mapped values and of the history in the fields of history_fields, by item. No rows if nothing is compared.
SELECT content_id, count(*) AS weight
FROM (
  SELECT content_id
  FROM content_mapped_values
  SEMI JOIN history_fields USING (content_id, destination_id, custom_field_id)
  WHERE content_id >= $1 AND ($2 IS NULL OR content_id < $2)
  UNION ALL
  SELECT content_id
  FROM previous_mapped_value_history
  SEMI JOIN history_fields USING (content_id, destination_id, custom_field_id)
  WHERE content_id >= $1 AND ($2 IS NULL OR content_id < $2)
)
GROUP BY content_id
