-- Pairs of custom fields that share an external field name at a destination, in each run of the history.
WITH named AS (
  SELECT DISTINCT runs.run, history.destination_id, history.external_field_name, history.custom_field_id
  FROM mapping_history AS history
  JOIN run_history AS first ON first.run = history.valid_from_run
  LEFT JOIN run_history AS after ON after.run = history.valid_to_run
  JOIN run_history AS runs
    ON runs.sequence >= first.sequence AND (after.sequence IS NULL OR runs.sequence < after.sequence)
)
SELECT
  run,
  destination_id,
  external_field_name,
  own.custom_field_id,
  other.custom_field_id AS other_custom_field_id
FROM named AS own
JOIN named AS other USING (run, destination_id, external_field_name)
WHERE own.custom_field_id <> other.custom_field_id
