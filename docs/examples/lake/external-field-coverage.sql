-- The external field "market", over all instances: how many items are there, and how many have a value of it?
SELECT
  instance,
  sum(items) AS all_items,
  sum(mapped) AS mapped_items,
  CAST(floor(100.0 * sum(mapped) / sum(items)) AS INT) AS percent
FROM (
  SELECT instance, count(*) AS items, 0 AS mapped
  FROM content
  GROUP BY instance
  UNION ALL
  SELECT instance, 0 AS items, count(DISTINCT content_id) AS mapped
  FROM content_mapped_values
  WHERE external_field_name = 'market' AND external_value IS NOT NULL
  GROUP BY instance
) AS counted
GROUP BY instance
ORDER BY percent, instance
