-- Uses of each value in a range of items, per destination and mapped custom field. Values of fields without value mappings
-- are counted together, except one that is asked for. The mark stands for a condition.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
-- $3  value that is asked for; NULL: any
WITH of_item AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    value_id,
    CASE WHEN status <> 'no_value_mapping' OR value = $3::VARCHAR THEN value END AS value,
    status,
    /* value_kind */ AS kind,
    mapping_value_id,
    external_value,
    value_archived,
    count(*) AS uses,
    count_if(ambiguous) AS ambiguous,
    count_if(matched_by_text) AS matched_by_text,
    count_if(collision) AS collision
  FROM content_mapped_values
  WHERE content_id >= coalesce($1::VARCHAR, '')
    AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
    AND /* scope */
  GROUP BY ALL
)
SELECT
  destination_id,
  custom_field_id,
  value_id,
  CASE WHEN value_id IS NULL THEN value END AS text,
  max(value) AS value,
  status,
  kind,
  mapping_value_id,
  external_value,
  value_archived,
  count(*) AS items,
  sum(uses) AS uses,
  sum(ambiguous) AS ambiguous,
  sum(matched_by_text) AS matched_by_text,
  sum(collision) AS collision
FROM of_item
GROUP BY ALL
