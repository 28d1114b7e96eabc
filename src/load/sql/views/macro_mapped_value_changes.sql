-- Values that differ between two runs (name or number), with both sides and all causes in between. A replaced value is
-- one row. If an item has a value several times, each copy is a value, and a further copy is added by item_changed.
--
-- flags_before, flags_after  names of the columns of content_mapped_values that are true, separated by blanks
-- change  added, removed, changed, or reordered for a field whose common values are in another order; then no value is
--         named
--
-- Examples: run 2 gives an item [b, a] instead of [a, b], and maps a to "first" instead of "alpha".
CREATE OR REPLACE MACRO mapped_value_changes(from_run, to_run) AS TABLE
-- e.g. first 1, and last 2
WITH asked AS (
  SELECT
    asked.side,
    coalesce(
      known.sequence,
      CAST(
        error('The history knows no run ' || coalesce(asked.run, 'NULL') || '; run_history lists those that it knows.') AS INTEGER
      )
    ) AS sequence
  FROM (VALUES ('first', CAST(from_run AS VARCHAR)), ('last', CAST(to_run AS VARCHAR))) AS asked(side, run)
  LEFT JOIN run_history AS known ON asked.run IN (known.run, CAST(known.sequence AS VARCHAR))
),
-- e.g. first 1, last 2
ends AS (
  SELECT
    max(asked.sequence) FILTER (asked.side = 'first') AS first,
    max(asked.sequence) FILTER (asked.side = 'last') AS last
  FROM asked
),
-- e.g. value 1: alpha, is_before; first, is_after; causes_between [mapping_changed] of both
versions AS (
  SELECT
    history.content_id,
    history.destination_id,
    history.custom_field_id,
    history.value_number,
    history.copy,
    {
      'valid_from_run': history.valid_from_run,
      'answer': struct_pack(/* value_columns */),
      'flags': concat_ws(
        ' ',
        CASE WHEN history.value_archived THEN 'value_archived' END,
        CASE WHEN history.value_unknown THEN 'value_unknown' END,
        CASE WHEN history.ambiguous THEN 'ambiguous' END,
        CASE WHEN history.matched_by_text THEN 'matched_by_text' END,
        CASE WHEN history.collision THEN 'collision' END
      )
    } AS version,
    since.sequence <= ends.first AND (until.sequence IS NULL OR until.sequence > ends.first) AS is_before,
    since.sequence <= ends.last AND (until.sequence IS NULL OR until.sequence > ends.last) AS is_after,
    CASE
      WHEN since.sequence > least(ends.first, ends.last) AND since.sequence <= greatest(ends.first, ends.last)
        THEN history.cause
      ELSE []
    END || CASE
      WHEN until.sequence > least(ends.first, ends.last) AND until.sequence <= greatest(ends.first, ends.last)
        THEN history.valid_to_cause
      ELSE []
    END AS causes_between
  FROM (/* versions */) AS history
  JOIN run_history AS since ON since.run = history.valid_from_run
  LEFT JOIN run_history AS until ON until.run = history.valid_to_run
  CROSS JOIN ends
  WHERE since.sequence > least(ends.first, ends.last) OR until.sequence > least(ends.first, ends.last)
),
-- e.g. value 1: before alpha, after first, causes [mapping_changed, mapping_changed]
differing AS (
  SELECT
    versions.content_id,
    versions.destination_id,
    versions.custom_field_id,
    versions.value_number,
    versions.copy,
    flatten(list(versions.causes_between)) AS causes,
    max(versions.version) FILTER (versions.is_before) AS before,
    max(versions.version) FILTER (versions.is_after) AS after
  FROM versions
  GROUP BY versions.content_id, versions.destination_id, versions.custom_field_id, versions.value_number, versions.copy
  -- What was changed and changed back is no difference.
  HAVING (before).answer IS DISTINCT FROM (after).answer
),
-- A value that went and came back may have another number by then: on either side, those alike are counted.
-- e.g. before: alpha; after: first
sides AS (
  SELECT * EXCLUDE (before, after), 'before' AS side, before AS version
  FROM differing
  WHERE before IS NOT NULL
  UNION ALL BY NAME
  SELECT * EXCLUDE (before, after), 'after' AS side, after AS version
  FROM differing
  WHERE after IS NOT NULL
),
-- e.g. the same, each the first with its answer
counted AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY side, content_id, destination_id, custom_field_id, version.answer ORDER BY value_number, copy
    ) AS same
  FROM sides
),
-- e.g. the same: neither side has an answer of the other
alone AS (
  SELECT *
  FROM counted
  QUALIFY count(*) OVER (PARTITION BY content_id, destination_id, custom_field_id, version.answer, same) = 1
),
-- Where the list is another, or has another value under a number: one that went leaves its own to the next.
-- e.g. the field
asked_orders AS (
  SELECT
    1 AS pair,
    touched.*,
    ends.first AS sequence_before,
    ends.last AS sequence_after
  FROM (
    SELECT history.content_id, history.destination_id, history.custom_field_id
    FROM mapped_value_order_history AS history
    JOIN run_history AS since ON since.run = history.valid_from_run
    CROSS JOIN ends
    WHERE since.sequence > least(ends.first, ends.last) AND since.sequence <= greatest(ends.first, ends.last)
    UNION
    SELECT content_id, destination_id, custom_field_id
    FROM differing
    WHERE before IS NOT NULL
      AND after IS NOT NULL
      AND (before.answer.value_id, before.answer.value) IS DISTINCT FROM (after.answer.value_id, after.answer.value)
  ) AS touched
  CROSS JOIN ends
),
-- e.g. before: a, b; after: b, a
ordered_values AS (
  /* ordered_values */
),
-- e.g. a from 0 to 1, and b from 1 to 0
reordered_values AS (
  /* reordered_values */
),
-- e.g. value 1 changed, with both sides; the field reordered
changes AS (
  SELECT
    alone.content_id,
    alone.destination_id,
    alone.custom_field_id,
    alone.value_number,
    CASE
      WHEN count_if(alone.side = 'before') = 0 THEN 'added'
      WHEN count_if(alone.side = 'after') = 0 THEN 'removed'
      ELSE 'changed'
    END AS change,
    any_value(alone.causes) AS causes,
    any_value(alone.version) FILTER (alone.side = 'before') AS before,
    any_value(alone.version) FILTER (alone.side = 'after') AS after
  FROM alone
  GROUP BY alone.content_id, alone.destination_id, alone.custom_field_id, alone.value_number, alone.copy
  UNION ALL BY NAME
  SELECT DISTINCT
    content_id,
    destination_id,
    custom_field_id,
    'reordered' AS change,
    ['reordered'] AS causes
  FROM reordered_values
)
SELECT
  changes.content_id,
  changes.destination_id,
  changes.custom_field_id,
  changes.value_number,
  changes.change,
  -- In their own order, each once.
  list_filter([/* causes */], lambda cause: list_contains(changes.causes, cause)) AS causes,
  changes.before.answer.external_field_name AS external_field_name_before,
  changes.after.answer.external_field_name AS external_field_name_after,
  changes.before.answer.value_id AS value_id_before,
  changes.after.answer.value_id AS value_id_after,
  changes.before.answer.value AS value_before,
  changes.after.answer.value AS value_after,
  changes.before.answer.external_value AS external_value_before,
  changes.after.answer.external_value AS external_value_after,
  changes.before.answer.status AS status_before,
  changes.after.answer.status AS status_after,
  changes.before.flags AS flags_before,
  changes.after.flags AS flags_after,
  changes.before.answer.mapping_id AS mapping_id_before,
  changes.after.answer.mapping_id AS mapping_id_after,
  changes.before.answer.mapping_value_id AS mapping_value_id_before,
  changes.after.answer.mapping_value_id AS mapping_value_id_after,
  changes.after.valid_from_run AS changed_in_run
FROM changes;
COMMENT ON MACRO TABLE mapped_value_changes IS
'Values that differ between two runs (name or number), with all causes in between; a value that an item has twice counts twice. Names are resolved in the current database; if several are attached, use USE first. Instants are timestamps with a time zone, or texts that can be read as such.'
