-- Items of a range with a value in a custom field that no destination maps.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
SELECT custom_field_id, count(DISTINCT content_id) AS items
FROM content_custom_field_values
ANTI JOIN mapping_targets USING (custom_field_id)
SEMI JOIN audit_fields USING (custom_field_id)
ANTI JOIN audit_left_out USING (content_id)
WHERE mapping_input IS NOT NULL
  AND content_id >= coalesce($1::VARCHAR, '')
  AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
GROUP BY custom_field_id
