-- Rows of content_mapped_values of all runs of the history, each with the runs in which it held. A value and its place
-- have versions of their own; a row here is what both have in common.
WITH numbered AS (
  SELECT run, sequence, started_at
  FROM run_history
),
value_versions AS (
  SELECT history.*, first.sequence AS from_sequence, after.sequence AS to_sequence
  FROM mapped_value_history AS history
  JOIN numbered AS first ON first.run = history.valid_from_run
  LEFT JOIN numbered AS after ON after.run = history.valid_to_run
),
places AS (
  SELECT
    history.content_id,
    history.destination_id,
    history.custom_field_id,
    unnest(CAST(history.value_numbers AS INTEGER[])) AS value_number,
    generate_subscripts(CAST(history.value_numbers AS INTEGER[]), 1) - 1 AS ordinal,
    first.sequence AS from_sequence,
    after.sequence AS to_sequence
  FROM mapped_value_order_history AS history
  JOIN numbered AS first ON first.run = history.valid_from_run
  LEFT JOIN numbered AS after ON after.run = history.valid_to_run
),
ordered_since AS (
  SELECT content_id, destination_id, custom_field_id, min(from_sequence) AS sequence
  FROM places
  GROUP BY content_id, destination_id, custom_field_id
),
placed AS (
  SELECT
    value_versions.* EXCLUDE (from_sequence, to_sequence),
    0 AS ordinal,
    value_versions.from_sequence,
    -- A NULL counts for nothing in least().
    least(value_versions.to_sequence, ordered_since.sequence) AS to_sequence
  FROM value_versions
  LEFT JOIN ordered_since USING (content_id, destination_id, custom_field_id)
  WHERE ordered_since.sequence IS NULL OR value_versions.from_sequence < ordered_since.sequence
  UNION ALL BY NAME
  SELECT
    value_versions.* EXCLUDE (from_sequence, to_sequence),
    places.ordinal,
    greatest(value_versions.from_sequence, places.from_sequence) AS from_sequence,
    least(value_versions.to_sequence, places.to_sequence) AS to_sequence
  FROM value_versions
  JOIN places USING (content_id, destination_id, custom_field_id, value_number)
  WHERE (value_versions.to_sequence IS NULL OR value_versions.to_sequence > places.from_sequence)
    AND (places.to_sequence IS NULL OR places.to_sequence > value_versions.from_sequence)
)
SELECT
  placed.content_id,
  placed.destination_id,
  placed.custom_field_id,
  CAST(placed.ordinal AS INTEGER) AS ordinal,
  placed.external_field_name,
  placed.value_id,
  placed.value,
  placed.mapping_id,
  placed.mapping_value_id,
  placed.external_value,
  placed.status,
  placed.value_archived,
  placed.value_unknown,
  placed.ambiguous,
  placed.matched_by_text,
  placed.destination_unsupported,
  placed.collision,
  placed.value_number,
  first.run AS valid_from_run,
  first.started_at AS valid_from,
  placed.from_sequence AS valid_from_sequence,
  after.run AS valid_to_run,
  after.started_at AS valid_to,
  placed.to_sequence AS valid_to_sequence,
  placed.valid_from_run AS version_from_run,
  CAST(placed.cause AS VARCHAR[]) AS cause,
  placed.valid_to_run AS version_to_run,
  CAST(placed.valid_to_cause AS VARCHAR[]) AS valid_to_cause
FROM placed
JOIN numbered AS first ON first.sequence = placed.from_sequence
LEFT JOIN numbered AS after ON after.sequence = placed.to_sequence
