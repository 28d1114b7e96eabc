-- Rows of content_mapped_values of all runs of the history, with the runs in which each held. A value, its position and
-- its destination have versions of their own; a row here is where one of each meet. The mark is the text of
-- mapped_value_versions. What holds ends after every run: a join on comparisons alone is by key, one with OR is not.
WITH value_versions AS (
  SELECT versions.*, first.sequence AS from_sequence, coalesce(after.sequence, 2147483647) AS to_sequence
  FROM (/* versions */) AS versions
  JOIN run_history AS first ON first.run = versions.valid_from_run
  LEFT JOIN run_history AS after ON after.run = versions.valid_to_run
),
places AS (
  SELECT
    history.content_id,
    history.destination_id,
    history.custom_field_id,
    unnest(numbers) AS value_number,
    -- How often each value has stood in the list by then.
    unnest(
      list_transform(numbers, lambda number, place: list_count(list_filter(numbers[1:place], lambda other: other = number)))
    ) AS copy,
    generate_subscripts(numbers, 1) - 1 AS ordinal,
    first.sequence AS from_sequence
  FROM (SELECT *, CAST(value_numbers AS INTEGER[]) AS numbers FROM mapped_value_order_history) AS history
  JOIN run_history AS first ON first.run = history.valid_from_run
  UNION ALL BY NAME
  -- Before a field has an order, it has one value at a time, at position 0.
  SELECT DISTINCT content_id, destination_id, custom_field_id, value_number, 1 AS copy, 0 AS ordinal, 0 AS from_sequence
  FROM mapped_value_history
  SEMI JOIN mapped_value_order_history USING (content_id, destination_id, custom_field_id)
),
-- Positions that a copy was moved to, in turn.
moves AS (
  SELECT *
  FROM places
  QUALIFY ordinal IS DISTINCT FROM lag(ordinal) OVER (
    PARTITION BY content_id, destination_id, custom_field_id, value_number, copy ORDER BY from_sequence
  )
),
stands AS (
  SELECT
    *,
    lead(from_sequence, 1, 2147483647) OVER (
      PARTITION BY content_id, destination_id, custom_field_id, value_number, copy ORDER BY from_sequence
    ) AS to_sequence
  FROM moves
),
-- Changes of what a destination receives, in turn; another name is none.
changes AS (
  SELECT
    destination_id,
    NOT supports_custom_field_mappings AS destination_unsupported,
    receives,
    CASE WHEN row_number() OVER same = 1 THEN 0 ELSE sequence END AS from_sequence
  FROM destination_history
  JOIN run_history ON run = valid_from_run
  WINDOW same AS (PARTITION BY destination_id ORDER BY sequence)
  QUALIFY row_number() OVER same = 1
    OR supports_custom_field_mappings IS DISTINCT FROM lag(supports_custom_field_mappings) OVER same
    OR receives IS DISTINCT FROM lag(receives) OVER same
),
destination_states AS (
  SELECT
    *,
    lead(from_sequence, 1, 2147483647) OVER (PARTITION BY destination_id ORDER BY from_sequence) AS to_sequence
  FROM changes
),
placed AS (
  SELECT
    versions.* EXCLUDE (from_sequence, to_sequence, cause, valid_to_cause),
    coalesce(stand.ordinal, 0) AS ordinal,
    state.destination_unsupported,
    state.receives,
    greatest(versions.from_sequence, stand.from_sequence, state.from_sequence) AS first_sequence,
    -- A NULL counts for nothing in least() and greatest(): a field that never had an order has no positions.
    least(versions.to_sequence, stand.to_sequence, state.to_sequence) AS last_sequence,
    CASE
      WHEN first_sequence = versions.from_sequence THEN versions.cause
      ELSE CASE WHEN first_sequence = state.from_sequence THEN ['destination_changed'] ELSE [] END
      || CASE WHEN first_sequence = stand.from_sequence THEN ['reordered'] ELSE [] END
    END AS cause,
    CASE
      WHEN last_sequence = versions.to_sequence THEN versions.valid_to_cause
      ELSE CASE WHEN last_sequence = state.to_sequence THEN ['destination_changed'] ELSE [] END
      || CASE WHEN last_sequence = stand.to_sequence THEN ['reordered'] ELSE [] END
    END AS valid_to_cause
  FROM value_versions AS versions
  JOIN destination_states AS state
    ON state.destination_id = versions.destination_id
    AND state.from_sequence < versions.to_sequence
    AND state.to_sequence > versions.from_sequence
  LEFT JOIN stands AS stand
    ON stand.content_id = versions.content_id
    AND stand.destination_id = versions.destination_id
    AND stand.custom_field_id = versions.custom_field_id
    AND stand.value_number = versions.value_number
    AND stand.copy = versions.copy
    AND stand.from_sequence < least(versions.to_sequence, state.to_sequence)
    AND stand.to_sequence > greatest(versions.from_sequence, state.from_sequence)
)
SELECT
  placed.content_id,
  placed.destination_id,
  placed.custom_field_id,
  CAST(placed.ordinal AS INTEGER) AS ordinal,
  /* value_columns */,
  placed.destination_unsupported,
  placed.receives,
  placed.value_number,
  CAST(placed.copy AS INTEGER) AS copy,
  first.run AS valid_from_run,
  first.started_at AS valid_from,
  placed.first_sequence AS valid_from_sequence,
  after.run AS valid_to_run,
  after.started_at AS valid_to,
  after.sequence AS valid_to_sequence,
  placed.valid_from_run AS version_from_run,
  -- As in the tables of the history.
  to_json(placed.cause) AS cause,
  placed.valid_to_run AS version_to_run,
  to_json(placed.valid_to_cause) AS valid_to_cause
FROM placed
JOIN run_history AS first ON first.sequence = placed.first_sequence
LEFT JOIN run_history AS after ON after.sequence = placed.last_sequence
