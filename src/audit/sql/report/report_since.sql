-- The current versions of the mapped values in the page: since when they are sent so, and why. The mark is the text of
-- mapped_value_since.
--
-- text  of a value that has no ID
WITH mapped_value_history AS (
  SELECT *
  FROM main.mapped_value_history
  SEMI JOIN (FROM report_chosen WHERE has_values) USING (content_id)
),
held AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    value_id,
    CASE WHEN value_id IS NULL THEN value END AS text,
    matched_by_text,
    max({'sequence': sequence, 'causes': CAST(cause AS VARCHAR)}) AS since
  FROM (/* since */)
  JOIN run_history ON run = since_run
  GROUP BY ALL
)
SELECT
  * EXCLUDE (since),
  since.sequence AS sequence,
  array_to_string(CAST(since.causes AS VARCHAR[]), ', ') AS causes
FROM held
