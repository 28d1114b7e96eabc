-- First items of ranges with about $3 rows of content_mapped_values, from the temporary table mapping_targets.
--
-- $1, $2  range of content IDs: lower bound (inclusive) and upper bound (exclusive); NULL is open
WITH weights AS (
  SELECT custom_field_id, count(*) AS destinations
  FROM mapping_targets
  GROUP BY custom_field_id
),
items AS (
  SELECT content_id, sum(weights.destinations) AS mapped_values
  FROM content_custom_field_values
  JOIN weights USING (custom_field_id)
  WHERE mapping_input IS NOT NULL
    AND content_id >= coalesce($1::VARCHAR, '')
    AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
  GROUP BY content_id
),
placed AS (
  SELECT content_id, (sum(mapped_values) OVER (ORDER BY content_id) - 1) // $3::BIGINT AS part
  FROM items
)
SELECT min(content_id) AS first_id
FROM placed
GROUP BY part
ORDER BY first_id
