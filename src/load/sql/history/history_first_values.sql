-- Rows of mapped_value_history of items that are new, except in lists that are not plain. Nothing is compared, and the
-- number of a value follows from its position.
SELECT
  mapped_values.* EXCLUDE (ordinal, destination_unsupported, receives),
  mapped_values.ordinal + 1 AS value_number,
  CASE WHEN mapped_values.matched_by_text THEN text.matched_text END AS matched_text,
  $run AS valid_from_run,
  $started_at AS valid_from,
  '["first_seen"]'::JSON AS cause
FROM content_mapped_values AS mapped_values
SEMI JOIN (SELECT content_id FROM history_items WHERE state = 'first_seen') AS item USING (content_id)
ANTI JOIN (FROM history_several WHERE NOT plain) AS listed USING (content_id, custom_field_id)
LEFT JOIN history_texts AS text USING (content_id, custom_field_id, ordinal)
WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
