-- Rows of mapped_value_history of a range of items that stay as they are: ended versions, and open ones but those of
-- history_fields. Read, and written, without being compared; the rows come in the order of the file that they are in.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
SELECT *
FROM previous_mapped_value_history AS before
ANTI JOIN (
  SELECT content_id, destination_id, custom_field_id, CAST(NULL AS VARCHAR) AS valid_to_run
  FROM history_fields
) AS looked_at
  ON looked_at.content_id = before.content_id
  AND looked_at.destination_id = before.destination_id
  AND looked_at.custom_field_id = before.custom_field_id
  AND looked_at.valid_to_run IS NOT DISTINCT FROM before.valid_to_run
WHERE content_id >= coalesce($1::VARCHAR, '') AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
