-- For each run the sequence number of the run that last changed a definition until then, 0 where none had: between two
-- epochs, all runs mapped alike. NULL: as this run does. The temporary table history_epochs.
--
-- $1  whether this run knows every definition: an unsettled one may have mapped without some that the history keeps
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
