-- content_mapped_values of the last run that had started by the instant. Before the first run there is none: an error.
CREATE OR REPLACE MACRO mapped_values_as_of(instant) AS TABLE
SELECT intervals.*
FROM mapped_value_intervals AS intervals, (/* asked_run */) AS at_run
WHERE intervals.valid_from_sequence <= at_run.sequence
  AND (intervals.valid_to_sequence IS NULL OR intervals.valid_to_sequence > at_run.sequence);
COMMENT ON MACRO TABLE mapped_values_as_of IS
'content_mapped_values of the last run that had started by the instant. Names are resolved in the current database; if several are attached, use USE first. Instants are timestamps with a time zone, or texts that can be read as such; a date is its end in UTC. Before the first run it is an error.'
