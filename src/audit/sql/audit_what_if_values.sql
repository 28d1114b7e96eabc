-- The changes of what_if_changes per value: what it gives now, what it would give, and for how many items. The values
-- of fields without value mappings count together.
WITH shown AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    value_id,
    CASE WHEN status_after IS DISTINCT FROM 'no_value_mapping' THEN value END AS value,
    change,
    name_before,
    CASE WHEN status_before <> 'no_value_mapping' THEN external_value_before END AS external_value_before,
    name_after,
    CASE WHEN status_after <> 'no_value_mapping' THEN external_value_after END AS external_value_after
  FROM what_if_changes
),
of_value AS (
  SELECT * EXCLUDE (content_id, value), max(value) AS value, count(DISTINCT content_id) AS items
  FROM shown
  GROUP BY ALL
)
SELECT
  of_value.*,
  receptions.destination,
  receptions.reception,
  custom_fields.name AS custom_field,
  offered.display
FROM of_value
JOIN audit_receptions AS receptions USING (destination_id)
LEFT JOIN custom_fields USING (custom_field_id)
LEFT JOIN custom_field_select_values AS offered USING (custom_field_id, value_id)
ORDER BY
  reception <> 'receiving',
  of_value.items DESC,
  destination NULLS LAST,
  of_value.destination_id,
  custom_field NULLS LAST,
  of_value.value NULLS LAST,
  of_value.value_id
