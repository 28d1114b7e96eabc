-- Definitions that are not as they were between two runs: before and after as JSON, NULL where there was none; what is
-- the same in both, in whatever way it got there, has no row. A mapping that went to another destination has a row for
-- each of the two, and so has an entry, as far as it was in the mapping there.
--
-- $1  sequence number of the earlier run
-- $2  that of the later one
WITH destination_versions AS (
  SELECT
    destination_id,
    {
      'identification': identification,
      'platform': platform,
      'supports_custom_field_mappings': supports_custom_field_mappings
    } AS definition,
    since.sequence <= $1::BIGINT AND (until.sequence IS NULL OR until.sequence > $1::BIGINT) AS is_before,
    since.sequence <= $2::BIGINT AND (until.sequence IS NULL OR until.sequence > $2::BIGINT) AS is_after
  FROM destination_history AS history
  JOIN run_history AS since ON since.run = history.valid_from_run
  LEFT JOIN run_history AS until ON until.run = history.valid_to_run
),
destination_changes AS (
  SELECT
    destination_id,
    any_value(definition) FILTER (is_before) AS was,
    any_value(definition) FILTER (is_after) AS is_now
  FROM destination_versions
  GROUP BY destination_id
  HAVING any_value(definition) FILTER (is_before) IS DISTINCT FROM any_value(definition) FILTER (is_after)
),
field_versions AS (
  SELECT
    custom_field_id,
    {
      'name': name,
      'display_label': display_label,
      'field_type': field_type
    } AS definition,
    since.sequence <= $1::BIGINT AND (until.sequence IS NULL OR until.sequence > $1::BIGINT) AS is_before,
    since.sequence <= $2::BIGINT AND (until.sequence IS NULL OR until.sequence > $2::BIGINT) AS is_after
  FROM custom_field_history AS history
  JOIN run_history AS since ON since.run = history.valid_from_run
  LEFT JOIN run_history AS until ON until.run = history.valid_to_run
),
field_changes AS (
  SELECT
    custom_field_id,
    any_value(definition) FILTER (is_before) AS was,
    any_value(definition) FILTER (is_after) AS is_now
  FROM field_versions
  GROUP BY custom_field_id
  HAVING any_value(definition) FILTER (is_before) IS DISTINCT FROM any_value(definition) FILTER (is_after)
),
value_versions AS (
  SELECT
    custom_field_id, value_id,
    {
      'ordinal': ordinal,
      'display': display,
      'value': value,
      'archived': archived
    } AS definition,
    since.sequence <= $1::BIGINT AND (until.sequence IS NULL OR until.sequence > $1::BIGINT) AS is_before,
    since.sequence <= $2::BIGINT AND (until.sequence IS NULL OR until.sequence > $2::BIGINT) AS is_after
  FROM select_value_history AS history
  JOIN run_history AS since ON since.run = history.valid_from_run
  LEFT JOIN run_history AS until ON until.run = history.valid_to_run
),
value_sides AS (
  SELECT
    custom_field_id, value_id,
    any_value(definition) FILTER (is_before) AS was,
    any_value(definition) FILTER (is_after) AS is_now
  FROM value_versions
  GROUP BY custom_field_id, value_id
),
mapping_versions AS (
  SELECT
    mapping_id,
    {
      'custom_field_id': custom_field_id,
      'destination_id': destination_id,
      'ordinal': ordinal,
      'external_field_name': external_field_name
    } AS definition,
    since.sequence <= $1::BIGINT AND (until.sequence IS NULL OR until.sequence > $1::BIGINT) AS is_before,
    since.sequence <= $2::BIGINT AND (until.sequence IS NULL OR until.sequence > $2::BIGINT) AS is_after
  FROM mapping_history AS history
  JOIN run_history AS since ON since.run = history.valid_from_run
  LEFT JOIN run_history AS until ON until.run = history.valid_to_run
),
mapping_sides AS (
  SELECT
    mapping_id,
    any_value(definition) FILTER (is_before) AS was,
    any_value(definition) FILTER (is_after) AS is_now
  FROM mapping_versions
  GROUP BY mapping_id
),
entry_versions AS (
  SELECT
    mapping_value_id,
    {
      'mapping_id': mapping_id,
      'ordinal': ordinal,
      'value_id': value_id,
      'external_value': external_value
    } AS definition,
    since.sequence <= $1::BIGINT AND (until.sequence IS NULL OR until.sequence > $1::BIGINT) AS is_before,
    since.sequence <= $2::BIGINT AND (until.sequence IS NULL OR until.sequence > $2::BIGINT) AS is_after
  FROM mapping_value_history AS history
  JOIN run_history AS since ON since.run = history.valid_from_run
  LEFT JOIN run_history AS until ON until.run = history.valid_to_run
),
entry_changes AS (
  SELECT
    mapping_value_id,
    any_value(definition) FILTER (is_before) AS was,
    any_value(definition) FILTER (is_after) AS is_now
  FROM entry_versions
  GROUP BY mapping_value_id
  HAVING any_value(definition) FILTER (is_before) IS DISTINCT FROM any_value(definition) FILTER (is_after)
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
  WHERE sides.was IS DISTINCT FROM sides.is_now
),
entry_places AS (
  SELECT changes.*, places.custom_field_id, places.destination_id
  FROM entry_changes AS changes
  JOIN places ON places.side = 'before' AND places.mapping_id = changes.was.mapping_id
  UNION
  SELECT changes.*, places.custom_field_id, places.destination_id
  FROM entry_changes AS changes
  JOIN places ON places.side = 'after' AND places.mapping_id = changes.is_now.mapping_id
),
texts AS (
  SELECT
    custom_field_id, value_id,
    coalesce(is_now.display, is_now.value, was.display, was.value) AS value_text
  FROM value_sides
),
changes AS (
  SELECT 'destination' AS kind, destination_id AS id, destination_id, was::JSON AS before, is_now::JSON AS after
  FROM destination_changes
  UNION ALL BY NAME
  SELECT 'field' AS kind, custom_field_id AS id, custom_field_id, was::JSON AS before, is_now::JSON AS after
  FROM field_changes
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
)
SELECT
  changes.kind,
  changes.id,
  changes.custom_field_id,
  changes.destination_id,
  changes.value_id,
  texts.value_text,
  changes.before,
  changes.after
FROM changes
LEFT JOIN texts USING (custom_field_id, value_id)
ORDER BY
  list_position(['destination', 'mapping', 'entry', 'field', 'value'], changes.kind),
  changes.destination_id NULLS FIRST,
  changes.custom_field_id NULLS FIRST,
  changes.id
