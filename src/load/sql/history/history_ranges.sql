-- First items of ranges of history_items with a weight of about $1 rows.
WITH placed AS (
  SELECT
    content_id,
    (sum(weight) OVER (ORDER BY content_id) - 1) // $1::BIGINT AS part
  FROM history_items
)
SELECT min(content_id) AS first_id
FROM placed
GROUP BY part
ORDER BY first_id
