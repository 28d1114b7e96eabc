-- All versions of the order of the values of the fields in diff_touched.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
SELECT history.*
FROM mapped_value_order_history AS history
SEMI JOIN diff_touched USING (content_id, destination_id, custom_field_id)
WHERE content_id >= coalesce($1::VARCHAR, '')
  AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
