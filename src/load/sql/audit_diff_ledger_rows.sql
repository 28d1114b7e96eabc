-- What the ledgers of two runs have in a range of items: a row per value and run, before and after.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
SELECT 'before' AS side, *
FROM before_content_mapped_values
WHERE content_id >= coalesce($1::VARCHAR, '')
  AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
UNION ALL BY NAME
SELECT 'after' AS side, *
FROM content_mapped_values
WHERE content_id >= coalesce($1::VARCHAR, '')
  AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
