-- Versions in the fields of history_fields that held when their items were last there: the temporary table history_before.
-- Columns as in history_now. A version of an item that was removed since has ended; that of another is open.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
WITH held AS (
  SELECT
    before.*,
    item.state,
    coalesce(before.matched_text, before.value_id, before.value) AS input,
    {
      'external_field_name': before.external_field_name,
      'value_id': before.value_id,
      'value': before.value,
      'mapping_id': before.mapping_id,
      'mapping_value_id': before.mapping_value_id,
      'external_value': before.external_value,
      'status': before.status,
      'value_archived': before.value_archived,
      'value_unknown': before.value_unknown,
      'ambiguous': before.ambiguous,
      'matched_by_text': before.matched_by_text,
      'destination_unsupported': before.destination_unsupported,
      'collision': before.collision
    } AS answer
  FROM previous_mapped_value_history AS before
  SEMI JOIN history_fields USING (content_id, destination_id, custom_field_id)
  JOIN history_items AS item USING (content_id)
  WHERE content_id >= coalesce($1::VARCHAR, '') AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
    AND (
      (item.state = 'changed' AND before.valid_to_run IS NULL)
      OR (item.state = 'returned' AND before.valid_to_run = item.removed_in_run)
    )
)
SELECT
  content_id,
  destination_id,
  custom_field_id,
  value_number,
  input,
  row_number() OVER (PARTITION BY content_id, destination_id, custom_field_id, input ORDER BY answer) AS variant,
  state,
  answer,
  valid_from_run,
  valid_from,
  cause
FROM held
