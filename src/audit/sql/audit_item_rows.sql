-- What an item held in a run, as the history has it, each value with the run that its version began in and why.
-- By the temporary tables item_values and item_orders; the text of the view mapped_value_intervals stands in place of the
-- mark.
--
-- sequence_before: the run before that one; where the item came back in it, the run that last had the item. While an item
-- is there its `last_seen_run` is NULL: the newest run, which is before none.
--
-- $1  sequence number of the run
WITH mapped_value_history AS (
  FROM item_values
),
mapped_value_order_history AS (
  FROM item_orders
),
intervals AS (
  /* intervals */
)
SELECT
  intervals.* REPLACE (CAST(intervals.cause AS VARCHAR[]) AS cause),
  since.sequence AS since_sequence,
  strftime(since.started_at, '%Y-%m-%dT%H:%M:%SZ') AS since_started_at,
  since.previous_run IS NULL AS begins,
  CASE
    WHEN json_contains(intervals.cause, '"item_returned"')
      THEN (
        SELECT max(seen.sequence)
        FROM content_history AS items
        JOIN run_history AS seen ON seen.run = items.last_seen_run
        WHERE items.content_id = intervals.content_id AND seen.sequence < since.sequence
      )
    ELSE (SELECT max(sequence) FROM run_history WHERE sequence < since.sequence)
  END AS sequence_before
FROM intervals
JOIN run_history AS since ON since.run = intervals.version_from_run
WHERE intervals.valid_from_sequence <= $1::BIGINT
  AND (intervals.valid_to_sequence IS NULL OR intervals.valid_to_sequence > $1::BIGINT)
ORDER BY intervals.destination_id, intervals.custom_field_id, intervals.ordinal
