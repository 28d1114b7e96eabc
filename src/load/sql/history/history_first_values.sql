-- Rows of mapped_value_history of items that were never there before, except in lists that are not plain: nothing to
-- compare, and each value has the number of its place. By the temporary tables history_items, history_several and
-- history_texts.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
-- $3  this run
-- $4  its start
SELECT
  ledger.* EXCLUDE (ordinal, receives),
  ledger.ordinal + 1 AS value_number,
  CASE WHEN ledger.matched_by_text THEN text.matched_text END AS matched_text,
  $3 AS valid_from_run,
  $4 AS valid_from,
  '["first_seen"]'::JSON AS cause
FROM content_mapped_values AS ledger
SEMI JOIN (SELECT content_id FROM history_items WHERE state = 'first_seen') AS item USING (content_id)
ANTI JOIN (FROM history_several WHERE NOT plain) AS listed USING (content_id, custom_field_id)
LEFT JOIN history_texts AS text USING (content_id, custom_field_id, ordinal)
WHERE ledger.content_id >= coalesce($1::VARCHAR, '') AND ($2::VARCHAR IS NULL OR ledger.content_id < $2::VARCHAR)
