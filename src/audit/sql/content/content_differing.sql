-- Items that both runs have and whose rows of a table differ in anything, by sums of digests of their rows: nothing but
-- these and IDs is held, whatever texts the tables have. An item without rows has no sum.
--
-- before, after  the sides: SELECTs of content_id, made_all
-- $1             the item, or NULL for all
WITH before AS (
  SELECT content_id, sum(made_all::HUGEINT) AS digest
  FROM (/* before */)
  WHERE $1::VARCHAR IS NULL OR content_id = $1::VARCHAR
  GROUP BY content_id
),
after AS (
  SELECT content_id, sum(made_all::HUGEINT) AS digest
  FROM (/* after */)
  WHERE $1::VARCHAR IS NULL OR content_id = $1::VARCHAR
  GROUP BY content_id
)
SELECT content_id
FROM before FULL JOIN after USING (content_id)
ANTI JOIN made_alone USING (content_id)
WHERE before.digest IS DISTINCT FROM after.digest
