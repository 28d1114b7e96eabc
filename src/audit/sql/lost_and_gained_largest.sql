-- The ten fields at destinations in lost_and_gained where most values were lost.
--
-- removed  definition whose removal is the cause of all: `mapping`, or `entry` for the value `text`
SELECT
  coalesce(any_value(destination.identification), lost.destination_id) AS destination,
  coalesce(any_value(field.name), lost.custom_field_id) AS field,
  sum(lost.lost)::BIGINT AS lost,
  CASE
    WHEN NOT bool_or(has_mapping) THEN 'mapping'
    WHEN count(*) = count(lost.entry) AND count(DISTINCT lost.entry) = 1 AND count(lost.text) > 0 AND NOT bool_or(has_entry)
      THEN 'entry'
  END AS removed,
  any_value(lost.text) AS text
FROM (
  SELECT
    *,
    (custom_field_id, destination_id) IN (SELECT (custom_field_id, destination_id) FROM custom_field_mappings) AS has_mapping,
    entry IN (SELECT mapping_value_id FROM custom_field_mapping_values) AS has_entry
  FROM lost_and_gained
  WHERE lost > 0
) AS lost
LEFT JOIN destinations AS destination USING (destination_id)
LEFT JOIN custom_fields AS field USING (custom_field_id)
GROUP BY lost.destination_id, lost.custom_field_id
ORDER BY lost DESC, destination, field, lost.destination_id, lost.custom_field_id
LIMIT 10
