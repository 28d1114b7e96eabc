-- Items whose rows of a table differ between the runs, by sums of digests, with the bytes of their texts. Items that only
-- one run has are left out.
--
-- ids            table of the items that are compared
-- hashed, bytes  of a row: all of its cells
-- before, after  rows of either run, as `t`
WITH rows AS (
  SELECT content_id, hash(/* hashed */)::HUGEINT AS digest, /* bytes */ AS bytes
  FROM /* before */
  UNION ALL
  SELECT content_id, -hash(/* hashed */)::HUGEINT, /* bytes */
  FROM /* after */
)
SELECT content_id, sum(bytes)::BIGINT AS bytes
FROM rows
SEMI JOIN /* ids */ USING (content_id)
GROUP BY content_id
HAVING sum(digest) <> 0
