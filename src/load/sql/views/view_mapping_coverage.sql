-- Values that definitions offer and items use, with their mapping. Marks: the texts of the two mapping steps.
WITH mapping_targets AS (
  /* mapping_targets */
),
mapping_answers AS (
  /* mapping_answers */
),
offered_and_used AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    external_field_name,
    value_id,
    CASE WHEN status <> 'no_value_mapping' THEN value END AS value,
    status,
    external_value,
    value_archived
  FROM content_mapped_values
  UNION ALL BY NAME
  SELECT
    target.destination_id,
    target.custom_field_id,
    target.external_field_name,
    answer.value_id,
    answer.value,
    coalesce(answer.status, 'no_value_mapping') AS status,
    answer.external_value,
    coalesce(answer.value_archived, false) AS value_archived
  FROM mapping_targets AS target
  LEFT JOIN mapping_answers AS answer USING (mapping_id)
  WHERE answer.mapping_id IS NOT NULL OR NOT target.has_values
),
counted AS (
  SELECT
    destination_id,
    custom_field_id,
    external_field_name,
    value_id,
    max(value) AS value,
    status,
    external_value,
    bool_or(value_archived) AS value_archived,
    count(DISTINCT content_id) AS items,
    count(content_id) AS uses
  FROM offered_and_used
  GROUP BY
    destination_id,
    custom_field_id,
    external_field_name,
    value_id,
    CASE WHEN value_id IS NULL THEN value END,
    status,
    external_value
)
SELECT
  counted.destination_id,
  coalesce(destinations.identification, counted.destination_id) AS destination,
  destinations.receives,
  counted.custom_field_id,
  custom_fields.name AS custom_field,
  counted.external_field_name,
  counted.value_id,
  counted.value,
  counted.status,
  counted.external_value,
  counted.value_archived,
  counted.items,
  counted.uses
FROM counted
LEFT JOIN destinations USING (destination_id)
LEFT JOIN custom_fields USING (custom_field_id)
