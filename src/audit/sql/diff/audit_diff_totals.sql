-- How many values and items of diff_shown changed, and how many of their payloads differ, of how many items.
WITH of_item AS (
  SELECT content_id, count(*) AS changes
  FROM diff_shown
  GROUP BY content_id
),
payloads AS (
  SELECT content_id, count(*) AS differing
  FROM diff_payloads
  SEMI JOIN diff_shown USING (content_id, destination_id)
  GROUP BY content_id
)
SELECT
  count(*) AS items,
  coalesce(sum(of_item.changes), 0)::BIGINT AS "values",
  coalesce(sum(payloads.differing), 0)::BIGINT AS payloads,
  count(payloads.content_id) AS payload_items
FROM of_item
LEFT JOIN payloads USING (content_id)
