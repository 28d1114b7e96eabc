-- Custom fields with values that no destination maps.
SELECT
  counts.custom_field_id,
  custom_fields.name AS custom_field,
  custom_fields.field_type,
  sum(counts.items)::BIGINT AS items
FROM audit_unmapped_counts AS counts
LEFT JOIN custom_fields USING (custom_field_id)
GROUP BY ALL
ORDER BY items DESC, custom_field NULLS LAST, custom_field_id
