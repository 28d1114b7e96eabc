-- payload_as_of(content_id, destination_id, instant): the payload of an item for a destination; NULL if there was
-- none. The mark is the text of payloads.
(
  WITH given AS (
    SELECT asked.item, intervals.*, run_history.passthrough
    -- In a subquery, because the parameters have the names of columns.
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
