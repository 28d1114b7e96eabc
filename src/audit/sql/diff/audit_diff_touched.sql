-- Fields of items at destinations of which the history saw something change between two runs.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
-- $3  sequence number of the earlier run
-- $4  that of the later one
WITH between_runs AS (
  SELECT run
  FROM run_history
  WHERE sequence > $3::BIGINT AND sequence <= $4::BIGINT
)
SELECT content_id, destination_id, custom_field_id
FROM mapped_value_history
WHERE content_id >= coalesce($1::VARCHAR, '')
  AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
  AND (valid_from_run IN (FROM between_runs) OR valid_to_run IN (FROM between_runs))
UNION
SELECT content_id, destination_id, custom_field_id
FROM mapped_value_order_history
WHERE content_id >= coalesce($1::VARCHAR, '')
  AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
  AND (valid_from_run IN (FROM between_runs) OR valid_to_run IN (FROM between_runs))
