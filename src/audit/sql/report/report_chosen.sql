-- The items of report_items, those that need most attention first: those whose values changed in this run, then those that
-- miss most.
--
-- $1  items at most
-- $2  mapped values of all items with values at most
--
-- has_values  whether the page has the item's mapped values
WITH ranked AS (
  SELECT
    *,
    row_number() OVER (ORDER BY changed DESC, without_external_value DESC, flagged DESC, content_id) AS place
  FROM report_items
  QUALIFY place <= $1::BIGINT
)
SELECT *, sum(values) OVER (ORDER BY place) <= $2::BIGINT AS has_values
FROM ranked
