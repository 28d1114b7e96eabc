-- The current versions of an item's mapped values in the history: since when they are sent so, and why. A value that the
-- item gives several times has one row. The mark is the text of mapped_value_since.
--
-- ordered_at       start of a later run that found the values of the field in another order
-- sequence_before  the run before; for an item that returned, the last run that had it
--
-- $1  content ID
WITH mapped_value_history AS (
  SELECT *
  FROM main.mapped_value_history
  WHERE content_id = $1
)
SELECT
  history.destination_id,
  history.custom_field_id,
  history.value_id,
  history.value,
  history.matched_by_text,
  history.external_field_name,
  CAST(history.cause AS VARCHAR[]) AS causes,
  since.run,
  since.sequence,
  since.started_at,
  since.previous_run IS NULL AS begins,
  ordered.started_at AS ordered_at,
  CASE
    WHEN json_contains(history.cause, '"item_returned"')
      THEN (
        SELECT max(seen.sequence)
        FROM content_history AS items
        JOIN run_history AS seen ON seen.run = items.last_seen_run
        WHERE items.content_id = history.content_id AND seen.sequence < since.sequence
      )
    ELSE (SELECT max(sequence) FROM run_history WHERE sequence < since.sequence)
  END AS sequence_before
FROM (/* since */) AS history
JOIN run_history AS since ON since.run = history.since_run
LEFT JOIN mapped_value_order_history AS orders
  ON orders.content_id = history.content_id
  AND orders.destination_id = history.destination_id
  AND orders.custom_field_id = history.custom_field_id
  AND orders.valid_to_run IS NULL
LEFT JOIN run_history AS ordered
  ON ordered.run = orders.valid_from_run AND ordered.sequence > since.sequence
  AND json_contains(orders.cause, '"reordered"')
