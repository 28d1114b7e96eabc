-- Changed rows of a table in the items of diff_range. Equal rows of both runs cancel out one for one. The remaining rows
-- are paired by key, in their order: a pair gives a row for each column that differs, a row without a partner is shown as
-- a whole. Lists have no key, so their rows are added or removed. Rows of one key that are the same in another order are
-- one change.
--
-- key            of a row, beside its item and its place, as texts; names where they have any
-- place          of a row in its list
-- names, cells   columns that are compared, and their values as texts
-- is_list        whether the key is empty, and the item has many rows
-- before, after  rows of either run, as `t`
WITH sides AS (
  SELECT true AS is_before, content_id, /* key */ AS own_key, /* place */ AS place, /* cells */ AS cells
  FROM /* before */
  SEMI JOIN diff_range USING (content_id)
  UNION ALL
  SELECT false, content_id, /* key */, /* place */, /* cells */
  FROM /* after */
  SEMI JOIN diff_range USING (content_id)
),
numbered AS (
  SELECT
    *,
    hash(cells) AS digest,
    row_number() OVER (PARTITION BY is_before, content_id, own_key, digest ORDER BY place) AS copy
  FROM sides
),
differing AS (
  SELECT
    min(is_before) AS is_before,
    content_id,
    own_key,
    min(place) AS place,
    any_value(cells) AS cells
  FROM numbered
  GROUP BY content_id, own_key, digest, copy
  HAVING count(*) = 1
),
orders AS (
  SELECT content_id, own_key
  FROM numbered
  GROUP BY content_id, own_key
  HAVING list(digest ORDER BY place, digest) FILTER (is_before) <> list(digest ORDER BY place, digest) FILTER (NOT is_before)
    AND list(digest ORDER BY digest) FILTER (is_before) = list(digest ORDER BY digest) FILTER (NOT is_before)
),
turns AS (
  SELECT *, row_number() OVER (PARTITION BY is_before, content_id, own_key ORDER BY place, cells) AS turn
  FROM differing
),
pairs AS (
  SELECT
    content_id,
    own_key,
    min(place) AS place,
    any_value(cells) FILTER (is_before) AS was,
    any_value(cells) FILTER (NOT is_before) AS is_now
  FROM turns
  GROUP BY content_id, own_key, turn, /* is_list */ AND is_before
),
changes AS (
  SELECT
    *,
    CASE WHEN is_now IS NULL THEN 'removed' ELSE 'added' END AS change,
    NULL AS column_name,
    0 AS column_place,
    row_text([/* names */], was) AS text_was,
    row_text([/* names */], is_now) AS text_now
  FROM pairs
  WHERE was IS NULL OR is_now IS NULL
  UNION ALL
  SELECT * EXCLUDE (names, column_place), 'changed', names[column_place], column_place, was[column_place], is_now[column_place]
  FROM (
    SELECT *, [/* names */] AS names, unnest(range(1, len(was) + 1)) AS column_place
    FROM pairs
    WHERE was IS NOT NULL AND is_now IS NOT NULL
  )
  WHERE was[column_place] IS DISTINCT FROM is_now[column_place]
  UNION ALL BY NAME
  SELECT content_id, own_key, 0 AS place, 'reordered' AS change, 0 AS column_place
  FROM orders
)
SELECT
  content_id,
  /* table_place */ AS table_place,
  /* table */ AS "table",
  nullif(array_to_string(own_key, ', '), '') AS "row",
  place AS row_place,
  column_name AS "column",
  column_place,
  change,
  excerpt(text_was, text_now) AS before,
  excerpt(text_now, text_was) AS after
FROM changes
