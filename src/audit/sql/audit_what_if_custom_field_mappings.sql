-- The mappings of an edited file, in its order.
SELECT
  mapping_id,
  custom_field_id,
  destination_id,
  (row_number() OVER (PARTITION BY custom_field_id ORDER BY place) - 1)::INTEGER AS ordinal,
  external_field_name
FROM (FROM what_if_rows QUALIFY row_number() OVER (PARTITION BY mapping_id ORDER BY place) = 1)
