-- For each run the sequence number of the last run until then that changed a definition, or 0: the temporary table
-- history_epochs. All runs of an epoch have the same mapping. NULL is the epoch of this run.
--
-- $1  whether this run knows all definitions; an unsettled run may lack some that the history keeps
WITH changes AS (
  SELECT valid_from_run AS run FROM destination_history
  UNION
  SELECT valid_to_run FROM destination_history
  UNION
  SELECT valid_from_run FROM custom_field_history
  UNION
  SELECT valid_to_run FROM custom_field_history
  UNION
  SELECT valid_from_run FROM select_value_history
  UNION
  SELECT valid_to_run FROM select_value_history
  UNION
  SELECT valid_from_run FROM mapping_history
  UNION
  SELECT valid_to_run FROM mapping_history
  UNION
  SELECT valid_from_run FROM mapping_value_history
  UNION
  SELECT valid_to_run FROM mapping_value_history
),
epochs AS (
  SELECT sequence
  FROM changes
  JOIN history_runs USING (run)
  UNION
  SELECT 0
)
SELECT
  run,
  CASE
    WHEN $1::BOOLEAN THEN nullif(max(epochs.sequence), (SELECT max(sequence) FROM epochs))
    ELSE max(epochs.sequence)
  END AS epoch
FROM history_runs
JOIN epochs ON epochs.sequence <= history_runs.sequence
GROUP BY run
