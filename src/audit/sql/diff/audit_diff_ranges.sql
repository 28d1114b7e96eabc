-- The first items of ranges with about $3 values each of those that the history saw change between two runs: versions
-- that began or ended, and orders.
--
-- $1  sequence number of the earlier run
-- $2  that of the later one
-- $3  values of a range
WITH between_runs AS (
  SELECT run
  FROM run_history
  WHERE sequence > $1::BIGINT AND sequence <= $2::BIGINT
),
events AS (
  SELECT content_id
  FROM mapped_value_history
  WHERE valid_from_run IN (FROM between_runs) OR valid_to_run IN (FROM between_runs)
  UNION ALL
  SELECT content_id
  FROM mapped_value_order_history
  WHERE valid_from_run IN (FROM between_runs) OR valid_to_run IN (FROM between_runs)
),
items AS (
  SELECT content_id, count(*) AS events
  FROM events
  GROUP BY content_id
),
placed AS (
  SELECT content_id, (sum(events) OVER (ORDER BY content_id) - 1) // $3::BIGINT AS part
  FROM items
)
SELECT min(content_id) AS first_id
FROM placed
GROUP BY part
ORDER BY first_id
