-- Changes of the rows of a table in the items of diff_range: a row that both runs have by its identity, for each column
-- that differs; one that a run alone has, as a whole. Of rows with the same identity, each is one.
--
-- identity       what a row is the same row by, beside its item: the key of its table, or all of its cells
-- row_name       what people know it by; NULL for the row of a list
-- values, names  its values, as texts, and the names of their columns
-- before, after  rows of either run, as `t`
WITH sides AS (
  SELECT true AS is_before, content_id, hash(/* identity */) AS identity, /* row_name */ AS row_name, /* values */ AS cells
  FROM /* before */
  SEMI JOIN diff_range USING (content_id)
  UNION ALL
  SELECT false, content_id, hash(/* identity */), /* row_name */, /* values */
  FROM /* after */
  SEMI JOIN diff_range USING (content_id)
),
numbered AS (
  SELECT *, row_number() OVER (PARTITION BY is_before, content_id, identity) AS copy
  FROM sides
),
pairs AS (
  SELECT
    content_id,
    any_value(row_name) AS row_name,
    any_value(cells) FILTER (is_before) AS was,
    any_value(cells) FILTER (NOT is_before) AS is_now
  FROM numbered
  GROUP BY content_id, identity, copy
),
changes AS (
  SELECT content_id, row_name, 'removed' AS change, NULL AS column_name, 0 AS place, row_text([/* names */], was) AS was,
    NULL AS is_now
  FROM pairs
  WHERE is_now IS NULL
  UNION ALL
  SELECT content_id, row_name, 'added', NULL, 0, NULL, row_text([/* names */], is_now)
  FROM pairs
  WHERE was IS NULL
  UNION ALL
  SELECT content_id, row_name, 'changed', names[place], place, was[place], is_now[place]
  FROM (
    SELECT *, [/* names */] AS names, unnest(range(1, len(was) + 1)) AS place
    FROM pairs
    WHERE was IS NOT NULL AND is_now IS NOT NULL
  )
  WHERE was[place] IS DISTINCT FROM is_now[place]
)
SELECT
  content_id,
  /* place */ AS table_place,
  /* table */ AS "table",
  row_name AS "row",
  column_name AS "column",
  place AS column_place,
  change,
  excerpt(was, is_now) AS before,
  excerpt(is_now, was) AS after
FROM changes
