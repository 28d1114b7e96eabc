-- Rows of both runs that are the same row of an item, of those of a range in made_sides: first those that are alike, then
-- those of the same name, then the one that is left on each side. What nobody matches was added or removed.
--
-- key     columns that tell rows of an item apart, without the position in a list
-- naming  digest of what tells a row of a list from others that changed
WITH sides AS (
  SELECT rowid AS place, made_after, made_ordinal, made_same, /* naming */ AS made_naming, /* key */
  FROM made_sides
),
-- The copies of a row that a list has several times are counted.
alike AS (
  SELECT *, row_number() OVER (
    PARTITION BY made_after, /* key */, made_same ORDER BY made_ordinal, place
  ) AS copy
  FROM sides
),
same_rows AS (
  SELECT before.place AS before_place, after.place AS after_place
  FROM (FROM alike WHERE NOT made_after) AS before
  JOIN (FROM alike WHERE made_after) AS after USING (/* key */, made_same, copy)
),
left_over AS (
  SELECT *, row_number() OVER (
    PARTITION BY made_after, /* key */, made_naming ORDER BY made_ordinal, place
  ) AS copy
  FROM sides
  WHERE place NOT IN (SELECT before_place FROM same_rows) AND place NOT IN (SELECT after_place FROM same_rows)
),
named_rows AS (
  SELECT before.place AS before_place, after.place AS after_place
  FROM (FROM left_over WHERE NOT made_after) AS before
  JOIN (FROM left_over WHERE made_after) AS after USING (/* key */, made_naming, copy)
),
unmatched AS (
  FROM left_over
  WHERE place NOT IN (SELECT before_place FROM named_rows) AND place NOT IN (SELECT after_place FROM named_rows)
),
single_rows AS (
  SELECT min(place) FILTER (NOT made_after) AS before_place, min(place) FILTER (made_after) AS after_place
  FROM unmatched
  GROUP BY /* key */
  HAVING count(*) = 2 AND count(*) FILTER (made_after) = 1
)
SELECT before_place, after_place, true AS is_same FROM same_rows
UNION ALL
SELECT before_place, after_place, false FROM named_rows
UNION ALL
SELECT before_place, after_place, false FROM single_rows
UNION ALL
SELECT
  CASE WHEN NOT made_after THEN place END,
  CASE WHEN made_after THEN place END,
  false
FROM unmatched
ANTI JOIN (
  SELECT unnest([before_place, after_place]) AS place FROM single_rows
) AS single USING (place)
