-- Texts by which values of the items of history_items were matched, if a digest or first version needs them: the
-- temporary table history_texts.
SELECT content_id, custom_field_id, ordinal, any_value(given.mapping_input) AS matched_text
FROM content_mapped_values AS matched
SEMI JOIN (SELECT content_id FROM history_items WHERE state IN ('first_seen', 'changed')) AS item USING (content_id)
JOIN content_custom_field_values AS given USING (content_id, custom_field_id, ordinal)
WHERE matched.matched_by_text
  AND content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
GROUP BY content_id, custom_field_id, ordinal
