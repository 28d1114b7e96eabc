-- Rule 6: the external value that a mapping has for a value ID. One row for each mapping that counts and each value
-- ID that is a select value of its field or has an entry. A value ID without a row is an unknown value.
--
-- value_unknown            the value ID has an entry, but is not a select value of the field
-- several_entries          the value ID has several entries; the first in source order counts
WITH entries AS (
  SELECT
    mapping_id,
    value_id,
    mapping_value_id,
    external_value,
    count(*) OVER (PARTITION BY mapping_id, value_id) > 1 AS several_entries
  FROM custom_field_mapping_values
  WHERE value_id IS NOT NULL
  QUALIFY row_number() OVER (PARTITION BY mapping_id, value_id ORDER BY ordinal, mapping_value_id) = 1
),
value_ids AS (
  SELECT mapping_id, custom_field_id, entries.value_id
  FROM mapping_targets
  JOIN entries USING (mapping_id)
  WHERE has_values
  UNION
  SELECT mapping_id, custom_field_id, custom_field_select_values.value_id
  FROM mapping_targets
  JOIN custom_field_select_values USING (custom_field_id)
  WHERE has_values
)
SELECT
  mapping_id,
  value_id,
  select_value.value,
  coalesce(select_value.archived, false) AS value_archived,
  select_value.value_id IS NULL AS value_unknown,
  entries.mapping_value_id,
  entries.external_value,
  coalesce(entries.several_entries, false) AS several_entries,
  CASE WHEN entries.value_id IS NULL THEN 'unmapped' ELSE 'mapped' END AS status
FROM value_ids
LEFT JOIN entries USING (mapping_id, value_id)
LEFT JOIN custom_field_select_values AS select_value USING (custom_field_id, value_id)
