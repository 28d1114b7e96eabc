-- Rules 1 to 4: the mapping that counts for a custom field at a destination. One row for each field and destination.
--
-- several_mappings         the field has several mappings for the destination; the first in source order counts
-- collision                another field has a mapping to the same external field name at the destination
-- destination_unsupported  NULL if the service does not say
-- has_values               only select and multiselect fields have value mappings
WITH picked AS (
  SELECT
    custom_field_id,
    destination_id,
    mapping_id,
    external_field_name,
    count(*) OVER (PARTITION BY custom_field_id, destination_id) > 1 AS several_mappings,
    count(DISTINCT custom_field_id) OVER (PARTITION BY destination_id, external_field_name) > 1
    AND external_field_name IS NOT NULL AS collision
  FROM custom_field_mappings
  WHERE destination_id IS NOT NULL
  QUALIFY row_number() OVER (PARTITION BY custom_field_id, destination_id ORDER BY ordinal, mapping_id) = 1
)
SELECT
  picked.custom_field_id,
  picked.destination_id,
  picked.mapping_id,
  picked.external_field_name,
  picked.several_mappings,
  picked.collision,
  NOT destinations.supports_custom_field_mappings AS destination_unsupported,
  destinations.receives,
  coalesce(custom_fields.field_type IN ('select', 'multiselect'), false) AS has_values
FROM picked
LEFT JOIN custom_fields USING (custom_field_id)
LEFT JOIN destinations USING (destination_id)
