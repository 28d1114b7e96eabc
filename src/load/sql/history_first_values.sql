-- Rows of mapped_value_history of items that were never there before, in fields with one value: nothing to compare,
-- and nothing to number. By the temporary tables history_items and history_several.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
-- $3  this run
-- $4  its start
WITH texts AS (
  SELECT content_id, custom_field_id, any_value(given.mapping_input) AS matched_text
  FROM content_mapped_values AS matched
  JOIN content_custom_field_values AS given USING (content_id, custom_field_id, ordinal)
  WHERE matched.matched_by_text AND matched.ordinal = 0
    AND content_id >= coalesce($1::VARCHAR, '') AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
  GROUP BY content_id, custom_field_id
)
SELECT
  ledger.* EXCLUDE (ordinal),
  1 AS value_number,
  CASE WHEN ledger.matched_by_text THEN texts.matched_text END AS matched_text,
  $3 AS valid_from_run,
  $4 AS valid_from,
  '["first_seen"]'::JSON AS cause
FROM content_mapped_values AS ledger
SEMI JOIN (SELECT content_id FROM history_items WHERE state = 'first_seen') AS item USING (content_id)
ANTI JOIN history_several USING (content_id, custom_field_id)
LEFT JOIN texts USING (content_id, custom_field_id)
WHERE ledger.content_id >= coalesce($1::VARCHAR, '') AND ($2::VARCHAR IS NULL OR ledger.content_id < $2::VARCHAR)
