-- The entries of an edited file, in its order; one that a person added gets an ID.
SELECT
  coalesce(entry.id, concat('added ', place)) AS mapping_value_id,
  mappingid AS mapping_id,
  (row_number() OVER (PARTITION BY mappingid ORDER BY place) - 1)::INTEGER AS ordinal,
  entry.valueid AS value_id,
  entry.externalvalue AS external_value
FROM what_if_rows
WHERE entry IS NOT NULL
