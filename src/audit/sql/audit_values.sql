-- One row per destination, mapped custom field and value in use; values that most items have come first.
--
-- $1  status to keep to; NULL: any
-- $2  value ID, value or external value to keep to; NULL: any
-- $3  whether to keep only values that are missing, archived or ambiguous
WITH counts AS (
  SELECT
    destination_id,
    custom_field_id,
    value_id,
    max(value) AS value,
    status,
    kind,
    external_value,
    value_archived AS archived,
    sum(items)::BIGINT AS items,
    sum(uses)::BIGINT AS uses,
    sum(ambiguous)::BIGINT AS ambiguous,
    sum(matched_by_text)::BIGINT AS matched_by_text,
    sum(collision)::BIGINT AS collision
  FROM audit_value_counts
  WHERE ($1::VARCHAR IS NULL OR status = $1::VARCHAR)
    AND ($2::VARCHAR IS NULL OR value_id = $2::VARCHAR OR value = $2::VARCHAR OR external_value = $2::VARCHAR)
  GROUP BY destination_id, custom_field_id, value_id, text, status, kind, mapping_value_id, external_value, value_archived
)
SELECT
  counts.*,
  receptions.destination,
  receptions.reception,
  custom_fields.name AS custom_field,
  target.external_field_name,
  offered.display
FROM counts
LEFT JOIN mapping_targets AS target USING (destination_id, custom_field_id)
JOIN audit_receptions AS receptions USING (destination_id)
LEFT JOIN custom_fields USING (custom_field_id)
LEFT JOIN custom_field_select_values AS offered USING (custom_field_id, value_id)
WHERE NOT $3::BOOLEAN
  OR counts.kind IN (/* without_external_value */)
  OR counts.archived
  OR counts.ambiguous > 0
ORDER BY
  reception <> 'receiving',
  counts.items DESC,
  destination NULLS LAST,
  custom_field NULLS LAST,
  counts.value NULLS LAST,
  counts.destination_id,
  counts.custom_field_id,
  counts.value_id
