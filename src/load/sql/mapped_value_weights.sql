-- Number of mapped values that items will have, from the temporary table mapping_targets.
WITH targets AS (
  SELECT custom_field_id, count(*) AS destinations
  FROM mapping_targets
  GROUP BY custom_field_id
)
SELECT content_id, sum(targets.destinations) AS weight
FROM content_custom_field_values
JOIN targets USING (custom_field_id)
WHERE mapping_input IS NOT NULL AND content_id >= $1 AND ($2 IS NULL OR content_id < $2)
GROUP BY content_id
