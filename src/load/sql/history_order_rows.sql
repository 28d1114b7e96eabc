-- Rows of mapped_value_order_history of a range of items.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
-- $3  this run
-- $4  its start
WITH going_on AS (
  SELECT *
  FROM previous_mapped_value_order_history
  WHERE content_id >= coalesce($1::VARCHAR, '') AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
),
ending AS (
  SELECT content_id, destination_id, custom_field_id, causes
  FROM history_orders
  WHERE ends
  UNION ALL
  SELECT content_id, destination_id, custom_field_id, ['item_removed'] AS causes
  FROM going_on
  WHERE valid_to_run IS NULL AND content_id IN (SELECT content_id FROM history_items WHERE state = 'removed')
)
SELECT
  going_on.* REPLACE (
    CASE WHEN causes IS NULL THEN valid_to_run ELSE $3 END AS valid_to_run,
    CASE WHEN causes IS NULL THEN valid_to ELSE $4 END AS valid_to,
    CASE WHEN causes IS NULL THEN valid_to_cause ELSE to_json(causes) END AS valid_to_cause
  )
FROM going_on
LEFT JOIN ending
  ON valid_to_run IS NULL
  AND ending.content_id = going_on.content_id
  AND ending.destination_id = going_on.destination_id
  AND ending.custom_field_id = going_on.custom_field_id
UNION ALL BY NAME
SELECT
  content_id,
  destination_id,
  custom_field_id,
  to_json(numbers) AS value_numbers,
  $3 AS valid_from_run,
  $4 AS valid_from,
  to_json(causes) AS cause
FROM history_orders
WHERE begins
