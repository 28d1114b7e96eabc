-- The entries of an edited file, in its order; one that a person added gets an ID.
SELECT
  coalesce(mapping_value_id, concat('added ', place)) AS mapping_value_id,
  mapping_id,
  (row_number() OVER (PARTITION BY mapping_id ORDER BY place) - 1)::INTEGER AS ordinal,
  value_id,
  external_value
FROM what_if_rows
WHERE is_entry
