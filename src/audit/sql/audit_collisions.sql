-- External field names that several custom fields share at one destination. The marks stand for conditions.
WITH shared_names AS (
  SELECT destination_id, external_field_name, custom_field_id, /* fields */ AS is_wanted
  FROM custom_field_mappings
  WHERE external_field_name IS NOT NULL AND /* destinations */
  GROUP BY ALL
),
uses AS (
  SELECT destination_id, custom_field_id, sum(collision) AS uses
  FROM audit_value_counts
  GROUP BY ALL
)
SELECT
  shared_names.destination_id,
  destinations.destination,
  destinations.reception,
  shared_names.external_field_name,
  string_agg(
    coalesce(custom_fields.name, shared_names.custom_field_id), ', ' ORDER BY shared_names.custom_field_id
  ) AS custom_fields,
  coalesce(sum(uses.uses), 0)::BIGINT AS uses
FROM shared_names
LEFT JOIN uses USING (destination_id, custom_field_id)
JOIN audit_receptions AS destinations USING (destination_id)
LEFT JOIN custom_fields USING (custom_field_id)
GROUP BY ALL
HAVING count(*) > 1
  AND bool_or(shared_names.is_wanted)
ORDER BY max(destinations.reception <> 'receiving'), destination NULLS LAST, shared_names.destination_id, shared_names.external_field_name
