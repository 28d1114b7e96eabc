-- One row per destination and mapped custom field. values = mapped + unmapped + unknown_value + empty + no_value_mapping. The
-- marks stand for conditions.
--
-- $1  status to keep to; NULL: any
-- $2  value ID, value or external value to keep to; NULL: any
--
-- archived        uses of values that can no longer be chosen
-- entries         entries of the field's mappings at the destination
-- entries_unused  entries that no item of the run uses
WITH counted AS (
  SELECT
    destination_id,
    custom_field_id,
    uses AS values,
    CASE WHEN kind = 'mapped' THEN uses END AS mapped,
    CASE WHEN status = 'unmapped' THEN uses END AS unmapped,
    CASE WHEN status = 'unknown_value' THEN uses END AS unknown_value,
    CASE WHEN kind = 'empty' THEN uses END AS empty,
    CASE WHEN status = 'no_value_mapping' THEN uses END AS no_value_mapping,
    CASE WHEN value_archived THEN uses END AS archived,
    ambiguous,
    matched_by_text,
    collision
  FROM audit_value_counts
  WHERE ($1::VARCHAR IS NULL OR status = $1::VARCHAR)
    AND ($2::VARCHAR IS NULL OR value_id = $2::VARCHAR OR value = $2::VARCHAR OR external_value = $2::VARCHAR)
  UNION ALL BY NAME
  SELECT destination_id, custom_field_id, 1 AS entries, (used.mapping_value_id IS NULL)::INTEGER AS entries_unused
  FROM custom_field_mapping_values
  JOIN custom_field_mappings USING (mapping_id)
  LEFT JOIN audit_used_entries AS used USING (mapping_value_id)
  UNION ALL BY NAME
  SELECT destination_id, custom_field_id FROM mapping_targets
),
sums AS (
  SELECT
    destination_id,
    custom_field_id,
    coalesce(sum(COLUMNS(* EXCLUDE (destination_id, custom_field_id))), 0)::BIGINT
  FROM counted
  GROUP BY destination_id, custom_field_id
)
SELECT
  receptions.destination,
  receptions.reception,
  custom_fields.name AS custom_field,
  custom_fields.field_type,
  target.external_field_name,
  sums.*
FROM mapping_targets AS target
JOIN sums USING (destination_id, custom_field_id)
JOIN audit_receptions AS receptions USING (destination_id)
LEFT JOIN custom_fields USING (custom_field_id)
WHERE (($1::VARCHAR IS NULL AND $2::VARCHAR IS NULL) OR sums.values > 0)
  AND /* destinations */
  AND /* fields */
ORDER BY reception <> 'receiving', destination NULLS LAST, destination_id, custom_field NULLS LAST, custom_field_id
