-- mapped_value_changes(from_run, to_run): values that differ between two runs, given by name or number, with both
-- sides, and every cause of a change of the value in between. A value that another took the place of is one row.
-- change: added, removed, changed; reordered, for a field whose values stand in another order: then no value is named.
WITH ends AS (
  SELECT
    coalesce(
      (SELECT h.sequence FROM run_history AS h WHERE CAST(from_run AS VARCHAR) IN (h.run, CAST(h.sequence AS VARCHAR))),
      CAST(error('The history knows no run ' || CAST(from_run AS VARCHAR) || '.') AS INTEGER)
    ) AS first,
    coalesce(
      (SELECT h.sequence FROM run_history AS h WHERE CAST(to_run AS VARCHAR) IN (h.run, CAST(h.sequence AS VARCHAR))),
      CAST(error('The history knows no run ' || CAST(to_run AS VARCHAR) || '.') AS INTEGER)
    ) AS last
),
versions AS (
  SELECT
    history.*,
    since.sequence AS from_sequence,
    until.sequence AS to_sequence,
    since.sequence <= ends.first AND (until.sequence IS NULL OR until.sequence > ends.first) AS is_before,
    since.sequence <= ends.last AND (until.sequence IS NULL OR until.sequence > ends.last) AS is_after,
    CASE
      WHEN since.sequence > least(ends.first, ends.last) AND since.sequence <= greatest(ends.first, ends.last)
        THEN CAST(history.cause AS VARCHAR[])
      ELSE []
    END || CASE
      WHEN until.sequence > least(ends.first, ends.last) AND until.sequence <= greatest(ends.first, ends.last)
        THEN CAST(history.valid_to_cause AS VARCHAR[])
      ELSE []
    END AS causes_between
  FROM mapped_value_history AS history
  JOIN run_history AS since ON since.run = history.valid_from_run
  LEFT JOIN run_history AS until ON until.run = history.valid_to_run
  CROSS JOIN ends
  WHERE since.sequence > least(ends.first, ends.last) OR until.sequence > least(ends.first, ends.last)
),
places AS (
  SELECT
    versions.content_id,
    versions.destination_id,
    versions.custom_field_id,
    versions.value_number,
    flatten(list(versions.causes_between)) AS causes,
    max(versions) FILTER (versions.is_before) AS before,
    max(versions) FILTER (versions.is_after) AS after
  FROM versions
  GROUP BY versions.content_id, versions.destination_id, versions.custom_field_id, versions.value_number
),
orders AS (
  SELECT
    history.content_id,
    history.destination_id,
    history.custom_field_id,
    max(CAST(history.value_numbers AS VARCHAR)) FILTER (
      since.sequence <= ends.first AND (until.sequence IS NULL OR until.sequence > ends.first)
    ) AS before,
    max(CAST(history.value_numbers AS VARCHAR)) FILTER (
      since.sequence <= ends.last AND (until.sequence IS NULL OR until.sequence > ends.last)
    ) AS after
  FROM mapped_value_order_history AS history
  JOIN run_history AS since ON since.run = history.valid_from_run
  LEFT JOIN run_history AS until ON until.run = history.valid_to_run
  CROSS JOIN ends
  GROUP BY history.content_id, history.destination_id, history.custom_field_id
  HAVING bool_or(
    CAST(history.cause AS VARCHAR) LIKE '%"reordered"%'
    AND since.sequence > least(ends.first, ends.last)
    AND since.sequence <= greatest(ends.first, ends.last)
  )
),
changes AS (
  SELECT
    places.content_id,
    places.destination_id,
    places.custom_field_id,
    places.value_number,
    CASE WHEN places.before IS NULL THEN 'added' WHEN places.after IS NULL THEN 'removed' ELSE 'changed' END AS change,
    places.causes,
    places.before,
    places.after
  FROM places
  WHERE (places.before IS NOT NULL OR places.after IS NOT NULL)
    -- What was changed and changed back is no difference.
    AND (places.before IS NULL OR places.after IS NULL OR row(
      places.before.external_field_name,
      places.before.value_id,
      places.before.value,
      places.before.mapping_id,
      places.before.mapping_value_id,
      places.before.external_value,
      places.before.status,
      places.before.value_archived,
      places.before.value_unknown,
      places.before.ambiguous,
      places.before.matched_by_text,
      places.before.destination_unsupported,
      places.before.collision
    ) IS DISTINCT FROM row(
      places.after.external_field_name,
      places.after.value_id,
      places.after.value,
      places.after.mapping_id,
      places.after.mapping_value_id,
      places.after.external_value,
      places.after.status,
      places.after.value_archived,
      places.after.value_unknown,
      places.after.ambiguous,
      places.after.matched_by_text,
      places.after.destination_unsupported,
      places.after.collision
    ))
  UNION ALL BY NAME
  SELECT
    orders.content_id,
    orders.destination_id,
    orders.custom_field_id,
    'reordered' AS change,
    ['reordered'] AS causes
  FROM orders
  WHERE orders.before <> orders.after
)
SELECT
  changes.content_id,
  changes.destination_id,
  changes.custom_field_id,
  changes.value_number,
  changes.change,
  -- In their own order, each once.
  CASE WHEN list_contains(changes.causes, 'first_seen') THEN ['first_seen'] ELSE [] END
  || CASE WHEN list_contains(changes.causes, 'item_removed') THEN ['item_removed'] ELSE [] END
  || CASE WHEN list_contains(changes.causes, 'item_returned') THEN ['item_returned'] ELSE [] END
  || CASE WHEN list_contains(changes.causes, 'item_changed') THEN ['item_changed'] ELSE [] END
  || CASE WHEN list_contains(changes.causes, 'destination_changed') THEN ['destination_changed'] ELSE [] END
  || CASE WHEN list_contains(changes.causes, 'mapping_changed') THEN ['mapping_changed'] ELSE [] END
  || CASE WHEN list_contains(changes.causes, 'definition_changed') THEN ['definition_changed'] ELSE [] END
  || CASE WHEN list_contains(changes.causes, 'reordered') THEN ['reordered'] ELSE [] END AS causes,
  changes.before.external_field_name AS external_field_name_before,
  changes.after.external_field_name AS external_field_name_after,
  changes.before.value_id AS value_id_before,
  changes.after.value_id AS value_id_after,
  changes.before.value AS value_before,
  changes.after.value AS value_after,
  changes.before.external_value AS external_value_before,
  changes.after.external_value AS external_value_after,
  changes.before.status AS status_before,
  changes.after.status AS status_after,
  changes.after.valid_from_run AS changed_in_run
FROM changes
