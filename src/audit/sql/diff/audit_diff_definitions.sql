-- Definitions that differ between two runs: before and after as JSON, NULL if absent. A mapping that moved to another
-- destination has a row for each of the two, and so do its entries. Each mark stands for audit_diff_definition_sides over
-- that history. A position that only follows from others being added or removed is no change.
--
-- $1  sequence number of the earlier run
-- $2  that of the later one
WITH destination_sides AS (
  /* destination_history */
),
field_sides AS (
  /* custom_field_history */
),
value_sides AS (
  /* select_value_history */
),
mapping_sides AS (
  /* mapping_history */
),
entry_sides AS (
  /* mapping_value_history */
),
places AS (
  SELECT 'before' AS side, mapping_id, was.custom_field_id, was.destination_id
  FROM mapping_sides
  WHERE was IS NOT NULL
  UNION ALL
  SELECT 'after' AS side, mapping_id, is_now.custom_field_id, is_now.destination_id
  FROM mapping_sides
  WHERE is_now IS NOT NULL
),
mapping_places AS (
  SELECT DISTINCT mapping_id, places.custom_field_id, places.destination_id, sides.was, sides.is_now
  FROM mapping_sides AS sides
  JOIN places USING (mapping_id)
),
entry_places AS (
  SELECT sides.*, places.custom_field_id, places.destination_id
  FROM entry_sides AS sides
  JOIN places ON places.side = 'before' AND places.mapping_id = sides.was.mapping_id
  UNION
  SELECT sides.*, places.custom_field_id, places.destination_id
  FROM entry_sides AS sides
  JOIN places ON places.side = 'after' AND places.mapping_id = sides.is_now.mapping_id
),
texts AS (
  SELECT
    custom_field_id, value_id,
    coalesce(is_now.value, was.value, is_now.display, was.display) AS value_text
  FROM value_sides
),
changes AS (
  SELECT 'destination' AS kind, destination_id AS id, destination_id, was::JSON AS before, is_now::JSON AS after
  FROM destination_sides
  WHERE was IS DISTINCT FROM is_now
  UNION ALL BY NAME
  SELECT 'field' AS kind, custom_field_id AS id, custom_field_id, was::JSON AS before, is_now::JSON AS after
  FROM field_sides
  WHERE was IS DISTINCT FROM is_now
  UNION ALL BY NAME
  SELECT 'value' AS kind, value_id AS id, custom_field_id, value_id, was::JSON AS before, is_now::JSON AS after
  FROM value_sides
  WHERE was IS DISTINCT FROM is_now
  UNION ALL BY NAME
  SELECT
    'mapping' AS kind,
    mapping_id AS id,
    custom_field_id,
    destination_id,
    was::JSON AS before,
    is_now::JSON AS after
  FROM mapping_places
  WHERE was IS DISTINCT FROM is_now
  UNION ALL BY NAME
  SELECT
    'entry' AS kind,
    mapping_value_id AS id,
    custom_field_id,
    destination_id,
    coalesce(is_now.value_id, was.value_id) AS value_id,
    was::JSON AS before,
    is_now::JSON AS after
  FROM entry_places
  WHERE was IS DISTINCT FROM is_now
),
ranked AS (
  SELECT
    *,
    row_number() OVER (siblings ORDER BY (before ->> 'ordinal')::INTEGER, id) AS rank_before,
    row_number() OVER (siblings ORDER BY (after ->> 'ordinal')::INTEGER, id) AS rank_after,
    json_merge_patch(before, '{"ordinal": null}') <> json_merge_patch(after, '{"ordinal": null}') AS differs
  FROM changes
  WINDOW siblings AS (
    PARTITION BY kind, custom_field_id, CASE kind WHEN 'entry' THEN destination_id END, before IS NULL OR after IS NULL
  )
)
SELECT changes.* EXCLUDE (rank_before, rank_after, differs), texts.value_text
FROM ranked AS changes
LEFT JOIN texts USING (custom_field_id, value_id)
WHERE before IS NULL OR after IS NULL OR differs OR rank_before <> rank_after
ORDER BY
  list_position(['destination', 'mapping', 'entry', 'field', 'value'], changes.kind),
  changes.destination_id NULLS FIRST,
  changes.custom_field_id NULLS FIRST,
  changes.id
