-- One row per destination and mapped custom field. values = mapped + unmapped +
-- unknown_value + no_value_mapping.
--
-- $1  status to keep to; NULL: any
-- $2  value ID, value or external value to keep to; NULL: any
--
-- items                         items with a value
-- items_without_external_value  those of them with a value that is unmapped or unknown
-- archived                      uses of values that can no longer be chosen
-- entries                       entries of the field's mappings at the destination
-- entries_unused                entries that no item of the run uses
WITH field_counts AS (
  SELECT
    destination_id,
    custom_field_id,
    sum(items) AS items,
    sum(items_without_external_value) AS items_without_external_value
  FROM audit_field_counts
  GROUP BY ALL
),
value_counts AS (
  SELECT
    destination_id,
    custom_field_id,
    sum(uses) AS uses,
    sum(uses) FILTER (status = 'mapped') AS mapped,
    sum(uses) FILTER (status = 'unmapped') AS unmapped,
    sum(uses) FILTER (status = 'unknown_value') AS unknown_value,
    sum(uses) FILTER (status = 'no_value_mapping') AS no_value_mapping,
    sum(uses) FILTER (value_archived) AS archived,
    sum(ambiguous) AS ambiguous,
    sum(matched_by_text) AS matched_by_text,
    sum(collision) AS collision
  FROM audit_value_counts
  WHERE ($1::VARCHAR IS NULL OR status = $1::VARCHAR)
    AND ($2::VARCHAR IS NULL OR value_id = $2::VARCHAR OR value = $2::VARCHAR OR external_value = $2::VARCHAR)
  GROUP BY ALL
),
entry_counts AS (
  SELECT
    custom_field_mappings.destination_id,
    custom_field_mappings.custom_field_id,
    count(*) AS entries,
    count_if(used.mapping_value_id IS NULL) AS entries_unused
  FROM custom_field_mapping_values
  JOIN custom_field_mappings USING (mapping_id)
  LEFT JOIN audit_used_entries AS used USING (mapping_value_id)
  GROUP BY ALL
)
SELECT
  target.destination_id,
  receptions.destination,
  coalesce(receptions.reception, 'nameless') AS reception,
  target.custom_field_id,
  custom_fields.name AS custom_field,
  custom_fields.field_type,
  target.external_field_name,
  coalesce(field_counts.items, 0)::BIGINT AS items,
  coalesce(field_counts.items_without_external_value, 0)::BIGINT AS items_without_external_value,
  coalesce(value_counts.uses, 0)::BIGINT AS values,
  coalesce(value_counts.mapped, 0)::BIGINT AS mapped,
  coalesce(value_counts.unmapped, 0)::BIGINT AS unmapped,
  coalesce(value_counts.unknown_value, 0)::BIGINT AS unknown_value,
  coalesce(value_counts.no_value_mapping, 0)::BIGINT AS no_value_mapping,
  coalesce(value_counts.archived, 0)::BIGINT AS archived,
  coalesce(value_counts.ambiguous, 0)::BIGINT AS ambiguous,
  coalesce(value_counts.matched_by_text, 0)::BIGINT AS matched_by_text,
  coalesce(value_counts.collision, 0)::BIGINT AS collision,
  coalesce(entry_counts.entries, 0)::BIGINT AS entries,
  coalesce(entry_counts.entries_unused, 0)::BIGINT AS entries_unused
FROM mapping_targets AS target
SEMI JOIN audit_destinations USING (destination_id)
SEMI JOIN audit_fields USING (custom_field_id)
LEFT JOIN field_counts USING (destination_id, custom_field_id)
LEFT JOIN value_counts USING (destination_id, custom_field_id)
LEFT JOIN entry_counts USING (destination_id, custom_field_id)
LEFT JOIN audit_receptions AS receptions USING (destination_id)
LEFT JOIN custom_fields USING (custom_field_id)
WHERE ($1::VARCHAR IS NULL AND $2::VARCHAR IS NULL) OR value_counts.uses > 0
ORDER BY
  reception <> 'receiving',
  destination NULLS LAST,
  target.destination_id,
  custom_field NULLS LAST,
  target.custom_field_id
