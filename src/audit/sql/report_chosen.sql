-- The items of report_items that need most attention.
--
-- $1  items at most
-- $2  mapped values of all of them at most
WITH ranked AS (
  SELECT *, row_number() OVER (ORDER BY without_external_value DESC, flagged DESC, content_id) AS place
  FROM report_items
  QUALIFY place <= $1::BIGINT
)
SELECT *
FROM ranked
QUALIFY sum(values) OVER (ORDER BY place) <= $2::BIGINT
