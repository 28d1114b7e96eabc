-- Rows of content_mapped_values of a range of items, from the temporary tables mapping_targets, mapping_inputs and
-- mapping_answers.
WITH given AS (
  SELECT
    content_id,
    custom_field_id,
    ordinal,
    value AS own_text,
    mapping_input,
    coalesce(mapping_input_is_id, false) AS is_id
  FROM content_custom_field_values
  WHERE mapping_input IS NOT NULL
    AND content_id >= $1 AND ($2 IS NULL OR content_id < $2)
),
identified AS (
  SELECT
    given.*,
    CASE WHEN given.is_id THEN given.mapping_input ELSE known.value_id END AS value_id,
    coalesce(known.matched_by_text AND NOT given.is_id, false) AS matched_by_text,
    coalesce(known.fits_several AND NOT given.is_id, false) AS fits_several
  FROM given
  LEFT JOIN mapping_inputs AS known
    ON known.custom_field_id = given.custom_field_id AND known.input = given.mapping_input
)
SELECT
  item.content_id,
  target.destination_id,
  item.custom_field_id,
  item.ordinal,
  target.external_field_name,
  CASE WHEN target.has_values THEN item.value_id END AS value_id,
  CASE
    WHEN target.has_values AND item.value_id IS NOT NULL THEN coalesce(answer.value, item.own_text)
    ELSE item.mapping_input
  END AS value,
  target.mapping_id,
  answer.mapping_value_id,
  answer.external_value,
  CASE WHEN target.has_values THEN coalesce(answer.status, 'unknown_value') ELSE 'no_value_mapping' END AS status,
  coalesce(answer.value_archived, false) AS value_archived,
  target.has_values AND coalesce(answer.value_unknown, true) AS value_unknown,
  target.several_mappings OR item.fits_several OR coalesce(answer.several_entries, false) AS ambiguous,
  item.matched_by_text,
  target.destination_unsupported,
  target.collision,
  target.receives
FROM identified AS item
JOIN mapping_targets AS target USING (custom_field_id)
LEFT JOIN mapping_answers AS answer
  ON answer.mapping_id = target.mapping_id AND answer.value_id = item.value_id
ORDER BY item.content_id, target.destination_id, item.custom_field_id, item.ordinal
