-- The changes of diff_shown by cause, destination and field, in the order of audit_diff_causes. The text of
-- audit_diff_counts stands in place of the mark.
SELECT
  of_group.*,
  destinations.name AS destination,
  fields.name AS custom_field
FROM (
  /* counts */
) AS of_group
LEFT JOIN diff_destinations AS destinations USING (destination_id)
LEFT JOIN diff_fields AS fields USING (custom_field_id)
ORDER BY
  sum(of_group."values") OVER (PARTITION BY of_group.causes) DESC,
  of_group.causes NULLS LAST,
  of_group."values" DESC,
  destination NULLS LAST,
  of_group.destination_id,
  custom_field NULLS LAST,
  of_group.custom_field_id
