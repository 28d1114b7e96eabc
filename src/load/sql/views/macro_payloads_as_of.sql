-- content_external_payloads of the last run that had started by the instant. Before the first run there is none: an error. What an unsettled run did not see counts
-- as before. The mark is the text of payloads.
CREATE OR REPLACE MACRO payloads_as_of(instant) AS TABLE
WITH at_run AS (
  SELECT run_history.sequence, run_history.passthrough
  FROM run_history
  JOIN (/* asked_run */) AS asked_run ON asked_run.sequence = run_history.sequence
),
given AS (
  SELECT intervals.*, at_run.passthrough
  FROM mapped_value_intervals AS intervals, at_run
  WHERE intervals.valid_from_sequence <= at_run.sequence
    AND (intervals.valid_to_sequence IS NULL OR intervals.valid_to_sequence > at_run.sequence)
)
SELECT content_id, destination_id, CAST(payload AS JSON) AS payload, receives
FROM (/* payloads */);
COMMENT ON MACRO TABLE payloads_as_of IS
'content_external_payloads of the last run that had started by the instant. Names are resolved in the current database; if several are attached, use USE first. Instants are timestamps with a time zone, or texts that can be read as such; a date is its end in UTC. Before the first run it is an error.'
