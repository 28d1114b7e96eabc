-- Items of a range with a value, per destination and mapped custom field.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
-- $3  status to keep to; NULL: any
-- $4  value ID, value or external value to keep to; NULL: any
--
-- Items are counted in two steps: a count of distinct items per group would keep all of them in memory.
WITH of_item AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    bool_or(/* value_kind */ IN (/* without_external_value */)) AS misses_some
  FROM content_mapped_values
  SEMI JOIN audit_destinations USING (destination_id)
  SEMI JOIN audit_fields USING (custom_field_id)
  ANTI JOIN audit_left_out USING (content_id)
  WHERE content_id >= coalesce($1::VARCHAR, '')
    AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
    AND ($3::VARCHAR IS NULL OR status = $3::VARCHAR)
    AND ($4::VARCHAR IS NULL OR value_id = $4::VARCHAR OR value = $4::VARCHAR OR external_value = $4::VARCHAR)
  GROUP BY content_id, destination_id, custom_field_id
)
SELECT destination_id, custom_field_id, count(*) AS items, count_if(misses_some) AS items_without_external_value
FROM of_item
GROUP BY destination_id, custom_field_id
