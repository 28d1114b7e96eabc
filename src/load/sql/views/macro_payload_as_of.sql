-- payload_as_of(content_id, destination_id, instant): the payload that a destination would have received for an item;
-- NULL where there was none. The text of payloads stands in place of the mark.
(
  WITH given AS (
    SELECT asked.item, intervals.*, run_history.passthrough
    -- Apart, because the parameters have the names of columns.
    FROM (SELECT content_id AS item, destination_id AS destination, instant AS at) AS asked
    CROSS JOIN mapped_value_intervals AS intervals
    JOIN run_history
      ON intervals.valid_from_sequence <= run_history.sequence
      AND (intervals.valid_to_sequence IS NULL OR intervals.valid_to_sequence > run_history.sequence)
    WHERE intervals.content_id = asked.item
      AND intervals.destination_id = asked.destination
      AND run_history.sequence = (
        SELECT max(until.sequence)
        FROM run_history AS until
        WHERE until.started_at <= CAST(asked.at AS TIMESTAMPTZ)
      )
  ),
  payloads AS (
    /* payload */
  )
  SELECT CAST(payloads.payload AS JSON)
  FROM payloads
)
