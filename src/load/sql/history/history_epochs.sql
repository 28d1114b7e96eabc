-- For each run the sequence number of the last run until then that changed a definition, or 0: the temporary table
-- history_epochs. All runs of an epoch have the same mapping. NULL is the epoch of this run.
--
-- $is_complete  whether this run knows all definitions; an unsettled run may lack some that the history keeps
WITH changes AS (
  SELECT unnest([valid_from_run, valid_to_run]) AS run
  FROM (
    SELECT valid_from_run, valid_to_run FROM custom_field_history
    UNION ALL
    SELECT valid_from_run, valid_to_run FROM select_value_history
    UNION ALL
    SELECT valid_from_run, valid_to_run FROM mapping_history
    UNION ALL
    SELECT valid_from_run, valid_to_run FROM mapping_value_history
  )
),
epochs AS (
  SELECT sequence
  FROM changes
  JOIN run_history USING (run)
  UNION
  SELECT 0
)
SELECT
  run,
  CASE
    WHEN $is_complete THEN nullif(max(epochs.sequence), (SELECT max(sequence) FROM epochs))
    ELSE max(epochs.sequence)
  END AS epoch
FROM run_history
JOIN epochs ON epochs.sequence <= run_history.sequence
GROUP BY run
