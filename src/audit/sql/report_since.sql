-- The current versions of the chosen items' mapped values: since when they hold, and why.
--
-- text  of a value that has no ID
WITH held AS (
  SELECT
    history.content_id,
    history.destination_id,
    history.custom_field_id,
    history.value_id,
    CASE WHEN history.value_id IS NULL THEN history.value END AS text,
    history.matched_by_text,
    max({'sequence': runs.sequence, 'causes': CAST(history.cause AS VARCHAR)}) AS since
  FROM mapped_value_history AS history
  SEMI JOIN report_chosen USING (content_id)
  JOIN run_history AS runs ON runs.run = history.valid_from_run
  WHERE history.valid_to_run IS NULL
  GROUP BY ALL
)
SELECT
  * EXCLUDE (since),
  since.sequence AS sequence,
  array_to_string(CAST(since.causes AS VARCHAR[]), ', ') AS causes
FROM held
