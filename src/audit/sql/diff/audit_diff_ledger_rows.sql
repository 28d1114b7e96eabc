-- What the ledgers of two runs have in a range of items: a row per value and run, before and after. Numbers of values and
-- copies are for the history alone.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
SELECT 'before' AS side, *, CAST(NULL AS INTEGER) AS value_number, CAST(NULL AS INTEGER) AS copy
FROM before_content_mapped_values
WHERE content_id >= coalesce($1::VARCHAR, '')
  AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
UNION ALL BY NAME
SELECT 'after' AS side, *, CAST(NULL AS INTEGER) AS value_number, CAST(NULL AS INTEGER) AS copy
FROM content_mapped_values
WHERE content_id >= coalesce($1::VARCHAR, '')
  AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
