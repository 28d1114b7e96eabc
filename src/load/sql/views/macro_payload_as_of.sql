-- The payload of an item for a destination; NULL if there was none. The mark is the text of payloads.
CREATE OR REPLACE MACRO payload_as_of(content_id, destination_id, instant) AS (
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
      AND run_history.sequence = (/* run_as_of */)
  )
  SELECT CAST(payloads.payload AS JSON)
  FROM (/* payload */) AS payloads
);
COMMENT ON MACRO payload_as_of IS
'The payload of an item for a destination at an instant; NULL where there was none. Names are resolved in the current database; if several are attached, use USE first. Instants are timestamps with a time zone, or texts that can be read as such; a date is its end in UTC.'
