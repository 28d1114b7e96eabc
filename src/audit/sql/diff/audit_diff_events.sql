-- Why the versions of each value in diff_values began or ended between two runs, copy by copy: every cause in between,
-- each once, in their own order. A value is known by its ID, else by its text. By diff_values and diff_orders; the text of
-- mapped_value_versions stands in place of the mark.
--
-- $1  sequence number of the earlier run
-- $2  that of the later one
WITH mapped_value_history AS (
  FROM diff_values
),
mapped_value_order_history AS (
  FROM diff_orders
),
versions AS (
  /* versions */
),
between_runs AS (
  SELECT run
  FROM run_history
  WHERE sequence > $1::BIGINT AND sequence <= $2::BIGINT
),
events AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    CASE WHEN value_id IS NULL THEN 'text ' || value ELSE 'id ' || value_id END AS input,
    copy,
    unnest(cause) AS cause
  FROM versions
  WHERE valid_from_run IN (FROM between_runs)
  UNION
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    CASE WHEN value_id IS NULL THEN 'text ' || value ELSE 'id ' || value_id END AS input,
    copy,
    unnest(valid_to_cause) AS cause
  FROM versions
  WHERE valid_to_run IN (FROM between_runs)
)
SELECT content_id, destination_id, custom_field_id, coalesce(input, '') AS input, copy, list(cause) AS causes
FROM events
GROUP BY content_id, destination_id, custom_field_id, coalesce(input, ''), copy
