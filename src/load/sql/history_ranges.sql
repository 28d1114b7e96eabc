-- The first items of the parts of history_items, where a part has about $1 rows of the ledger and the history; items
-- that have to be looked at count several times, because to compare takes more memory than to copy.
WITH placed AS (
  SELECT
    content_id,
    weight,
    (
      sum(weight * CASE WHEN state IN ('changed', 'returned') THEN 6 ELSE 1 END) OVER (ORDER BY content_id) - 1
    ) // $1::BIGINT AS part
  FROM history_items
)
SELECT min(content_id) AS first_id, CAST(sum(weight) AS BIGINT) AS "rows"
FROM placed
GROUP BY part
ORDER BY first_id
