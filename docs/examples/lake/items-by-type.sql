-- How many items of each type do the instances have? Types are matched by their names: each instance has its own IDs.
SELECT
  content_types.display_name AS content_type,
  count(DISTINCT content.instance) AS instances,
  count(*) AS items,
  max(content.created_at) AS newest
FROM content
JOIN content_types
  ON content_types.instance = content.instance
  AND content_types.content_type_id = content.content_type_id
GROUP BY content_types.display_name
ORDER BY items DESC, content_type
