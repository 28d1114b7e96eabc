-- Items that both runs have and whose rows of a table differ, by sums of digests of their rows: nothing but these and IDs
-- is held, whatever texts the tables have. `changed`: in more than what is apart; the sum of no rows is 0. `bytes`: of their texts, both sides.
--
-- before, after  the sides: SELECTs of content_id, made_changed, made_all, made_bytes
-- $1             the item, or NULL for all
WITH before AS (
  SELECT content_id, sum(made_changed::HUGEINT) AS changed, sum(made_all::HUGEINT) AS every, sum(made_bytes) AS bytes
  FROM (/* before */)
  WHERE $1::VARCHAR IS NULL OR content_id = $1::VARCHAR
  GROUP BY content_id
),
after AS (
  SELECT content_id, sum(made_changed::HUGEINT) AS changed, sum(made_all::HUGEINT) AS every, sum(made_bytes) AS bytes
  FROM (/* after */)
  WHERE $1::VARCHAR IS NULL OR content_id = $1::VARCHAR
  GROUP BY content_id
)
SELECT
  content_id,
  coalesce(before.changed, 0) <> coalesce(after.changed, 0) AS changed,
  (coalesce(before.bytes, 0) + coalesce(after.bytes, 0))::BIGINT AS bytes
FROM before FULL JOIN after USING (content_id)
ANTI JOIN made_alone USING (content_id)
WHERE before.every IS DISTINCT FROM after.every
