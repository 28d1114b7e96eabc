-- Rows of mapped_value_history that are copied: ended versions, and open versions outside of history_fields. They
-- keep the order of their file.
SELECT *
FROM previous_mapped_value_history AS before
ANTI JOIN (
  SELECT content_id, destination_id, custom_field_id, CAST(NULL AS VARCHAR) AS valid_to_run
  FROM history_fields
) AS looked_at
  ON looked_at.content_id = before.content_id
  AND looked_at.destination_id = before.destination_id
  AND looked_at.custom_field_id = before.custom_field_id
  AND looked_at.valid_to_run IS NOT DISTINCT FROM before.valid_to_run
WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
