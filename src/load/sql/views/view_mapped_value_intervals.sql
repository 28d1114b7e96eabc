-- Rows of content_mapped_values of all runs of the history, with the runs in which each held. A value and its
-- position have versions of their own; a row here is their intersection. The mark is the text of
-- mapped_value_versions.
WITH value_versions AS (
  SELECT versions.*, first.sequence AS from_sequence, after.sequence AS to_sequence
  FROM (/* versions */) AS versions
  JOIN run_history AS first ON first.run = versions.valid_from_run
  LEFT JOIN run_history AS after ON after.run = versions.valid_to_run
),
lists AS (
  SELECT
    * EXCLUDE (value_numbers),
    CAST(value_numbers AS INTEGER[]) AS numbers,
    -- How often each value has stood in the list by then.
    CASE
      WHEN list_count(numbers) = list_unique(numbers) THEN list_transform(numbers, lambda number: 1)
      ELSE list_transform(
        numbers,
        lambda number, place: list_count(list_filter(numbers[1:place], lambda other: other = number))
      )
    END AS copies
  FROM mapped_value_order_history
),
places AS (
  SELECT
    history.content_id,
    history.destination_id,
    history.custom_field_id,
    unnest(history.numbers) AS value_number,
    unnest(history.copies) AS copy,
    generate_subscripts(history.numbers, 1) - 1 AS ordinal,
    first.sequence AS from_sequence,
    after.sequence AS to_sequence
  FROM lists AS history
  JOIN run_history AS first ON first.run = history.valid_from_run
  LEFT JOIN run_history AS after ON after.run = history.valid_to_run
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
  WHERE value_versions.copy = 1
    AND (ordered_since.sequence IS NULL OR value_versions.from_sequence < ordered_since.sequence)
  UNION ALL BY NAME
  SELECT
    value_versions.* EXCLUDE (from_sequence, to_sequence),
    places.ordinal,
    greatest(value_versions.from_sequence, places.from_sequence) AS from_sequence,
    least(value_versions.to_sequence, places.to_sequence) AS to_sequence
  FROM value_versions
  JOIN places USING (content_id, destination_id, custom_field_id, value_number, copy)
  WHERE (value_versions.to_sequence IS NULL OR value_versions.to_sequence > places.from_sequence)
    AND (places.to_sequence IS NULL OR places.to_sequence > value_versions.from_sequence)
)
SELECT
  placed.content_id,
  placed.destination_id,
  placed.custom_field_id,
  CAST(placed.ordinal AS INTEGER) AS ordinal,
  /* value_columns */,
  coalesce(NOT placed.destination_unsupported, false) AS receives,
  placed.value_number,
  CAST(placed.copy AS INTEGER) AS copy,
  first.run AS valid_from_run,
  first.started_at AS valid_from,
  placed.from_sequence AS valid_from_sequence,
  after.run AS valid_to_run,
  after.started_at AS valid_to,
  placed.to_sequence AS valid_to_sequence,
  placed.valid_from_run AS version_from_run,
  -- As in the tables of the history.
  to_json(placed.cause) AS cause,
  placed.valid_to_run AS version_to_run,
  to_json(placed.valid_to_cause) AS valid_to_cause
FROM placed
JOIN run_history AS first ON first.sequence = placed.from_sequence
LEFT JOIN run_history AS after ON after.sequence = placed.to_sequence
