-- Many-to-one values, within one external field of a destination.
WITH uses AS (
  SELECT mapping_value_id, sum(uses) AS uses
  FROM audit_value_counts
  GROUP BY mapping_value_id
)
SELECT
  target.destination_id,
  destinations.destination,
  destinations.reception,
  target.external_field_name,
  answer.external_value,
  count(*)::BIGINT AS internal_values,
  string_agg(
    coalesce(custom_fields.name, target.custom_field_id) || ': ' || coalesce(answer.value, answer.value_id),
    ', ' ORDER BY custom_fields.name, answer.value, answer.value_id
  ) AS given_by,
  coalesce(sum(uses.uses), 0)::BIGINT AS uses
FROM mapping_targets AS target
SEMI JOIN audit_destinations ON audit_destinations.destination_id = target.destination_id
SEMI JOIN audit_fields ON audit_fields.custom_field_id = target.custom_field_id
JOIN mapping_answers AS answer ON answer.mapping_id = target.mapping_id
LEFT JOIN uses ON uses.mapping_value_id = answer.mapping_value_id
JOIN audit_receptions AS destinations ON destinations.destination_id = target.destination_id
LEFT JOIN custom_fields ON custom_fields.custom_field_id = target.custom_field_id
WHERE answer.status = 'mapped' AND answer.external_value IS NOT NULL
GROUP BY ALL
HAVING count(*) > 1
ORDER BY max(destinations.reception <> 'receiving'), uses DESC, destination NULLS LAST, target.external_field_name, answer.external_value
