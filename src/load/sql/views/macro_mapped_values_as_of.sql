-- mapped_values_as_of(instant): content_mapped_values as the last run found it that had started by then: of the runs
-- with a start until the instant, the one with the highest number, whatever the clock did. No rows before the first.
SELECT intervals.*
FROM mapped_value_intervals AS intervals,
  (SELECT max(run_history.sequence) AS sequence FROM run_history WHERE run_history.started_at <= CAST(instant AS TIMESTAMPTZ)) AS at_run
WHERE intervals.valid_from_sequence <= at_run.sequence
  AND (intervals.valid_to_sequence IS NULL OR intervals.valid_to_sequence > at_run.sequence)
