-- First items of ranges with about $3 rows of the mapped_values and the history in the fields of history_fields. No rows if
-- nothing is compared.
--
-- $1, $2  range of content IDs: lower bound (inclusive) and upper bound (exclusive); NULL is open
WITH looked_at AS (
  SELECT content_id
  FROM content_mapped_values
  SEMI JOIN history_fields USING (content_id, destination_id, custom_field_id)
  WHERE content_id >= coalesce($1::VARCHAR, '') AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
  UNION ALL
  SELECT content_id
  FROM previous_mapped_value_history
  SEMI JOIN history_fields USING (content_id, destination_id, custom_field_id)
  WHERE content_id >= coalesce($1::VARCHAR, '') AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
),
items AS (
  SELECT content_id, count(*) AS weight
  FROM looked_at
  GROUP BY content_id
),
placed AS (
  SELECT content_id, (sum(weight) OVER (ORDER BY content_id) - 1) // $3::BIGINT AS part
  FROM items
)
SELECT min(content_id) AS first_id
FROM placed
GROUP BY part
ORDER BY first_id
