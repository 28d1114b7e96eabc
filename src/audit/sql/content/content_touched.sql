-- Of the items in made_differing, which differ in more than what is apart, by sums of digests again: that of no rows is 0.
-- `bytes`: of their texts, both sides.
--
-- before, after  the sides: SELECTs of content_id, made_changed, made_bytes
WITH before AS (
  SELECT content_id, sum(made_changed::HUGEINT) AS changed, sum(made_bytes) AS bytes
  FROM (/* before */)
  GROUP BY content_id
),
after AS (
  SELECT content_id, sum(made_changed::HUGEINT) AS changed, sum(made_bytes) AS bytes
  FROM (/* after */)
  GROUP BY content_id
)
SELECT
  content_id,
  coalesce(before.changed, 0) <> coalesce(after.changed, 0) AS changed,
  (coalesce(before.bytes, 0) + coalesce(after.bytes, 0))::BIGINT AS bytes
FROM before FULL JOIN after USING (content_id)
