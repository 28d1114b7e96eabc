-- Rows of mapped_value_order_history of a range of items.
WITH going_on AS (
  SELECT *
  FROM previous_mapped_value_order_history
  WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
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
SELECT going_on.*
FROM going_on
ANTI JOIN (
  SELECT content_id, destination_id, custom_field_id, CAST(NULL AS VARCHAR) AS valid_to_run
  FROM ending
) AS ended
  ON ended.content_id = going_on.content_id
  AND ended.destination_id = going_on.destination_id
  AND ended.custom_field_id = going_on.custom_field_id
  AND ended.valid_to_run IS NOT DISTINCT FROM going_on.valid_to_run
UNION ALL BY NAME
SELECT
  * EXCLUDE (causes) REPLACE (
    $run AS valid_to_run,
    $started_at AS valid_to,
    to_json(causes) AS valid_to_cause
  )
FROM going_on
JOIN ending USING (content_id, destination_id, custom_field_id)
WHERE valid_to_run IS NULL
UNION ALL BY NAME
SELECT
  content_id,
  destination_id,
  custom_field_id,
  to_json(numbers) AS value_numbers,
  $run AS valid_from_run,
  $started_at AS valid_from,
  to_json(causes) AS cause
FROM history_orders
WHERE begins
UNION ALL BY NAME
SELECT
  content_id,
  destination_id,
  custom_field_id,
  to_json(range(1, count(*) + 1)) AS value_numbers,
  $run AS valid_from_run,
  $started_at AS valid_from,
  '["first_seen"]'::JSON AS cause
FROM content_mapped_values
SEMI JOIN (FROM history_several WHERE plain) AS listed USING (content_id, custom_field_id)
SEMI JOIN (SELECT content_id FROM history_items WHERE state = 'first_seen') AS item USING (content_id)
WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
GROUP BY content_id, destination_id, custom_field_id
