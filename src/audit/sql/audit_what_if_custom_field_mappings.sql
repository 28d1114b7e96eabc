-- The mappings of an edited file, in its order.
SELECT
  mappingid AS mapping_id,
  customfieldid AS custom_field_id,
  destinationid AS destination_id,
  (row_number() OVER (PARTITION BY customfieldid ORDER BY place) - 1)::INTEGER AS ordinal,
  externalfieldname AS external_field_name
FROM (FROM what_if_rows QUALIFY row_number() OVER (PARTITION BY mappingid ORDER BY place) = 1)
