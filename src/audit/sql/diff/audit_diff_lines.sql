-- The changes of diff_shown, one line per change however many items it touches. Changes of payloads come first, of these
-- lost external values, then those that touch most items; destinations that do not receive values in both runs come last.
-- The texts of fields without value mappings count together. A change of a whole field (external name, collision) is one
-- line without a value.
WITH judged AS (
  SELECT
    *,
    coalesce(
      (status_before, value_id_before, value_before, external_value_before, mapping_value_id_before)
      IS NOT DISTINCT FROM (status_after, value_id_after, value_after, external_value_after, mapping_value_id_after)
      AND regexp_replace(flags_before, ' ?collision', '') = regexp_replace(flags_after, ' ?collision', ''),
      false
    ) AS of_field
  FROM diff_shown
),
shown AS (
  SELECT
    array_to_string(causes, ' ') AS causes,
    destination_id,
    reception,
    custom_field_id,
    change,
    name_before,
    name_after,
    CASE WHEN NOT of_field THEN status_before END AS status_before,
    CASE WHEN NOT of_field THEN status_after END AS status_after,
    CASE WHEN NOT of_field THEN value_id_before END AS value_id_before,
    CASE WHEN NOT of_field THEN value_id_after END AS value_id_after,
    CASE WHEN NOT of_field AND status_before <> 'no_value_mapping' THEN value_before END AS value_before,
    CASE WHEN NOT of_field AND status_after <> 'no_value_mapping' THEN value_after END AS value_after,
    CASE WHEN NOT of_field AND status_before <> 'no_value_mapping' THEN external_value_before END
      AS external_value_before,
    CASE WHEN NOT of_field AND status_after <> 'no_value_mapping' THEN external_value_after END
      AS external_value_after,
    CASE WHEN of_field THEN regexp_extract(flags_before, '(collision)?$') ELSE flags_before END
      AS flags_before,
    CASE WHEN of_field THEN regexp_extract(flags_after, '(collision)?$') ELSE flags_after END
      AS flags_after,
    mapping_id_before,
    mapping_id_after,
    CASE WHEN NOT of_field THEN mapping_value_id_before END AS mapping_value_id_before,
    CASE WHEN NOT of_field THEN mapping_value_id_after END AS mapping_value_id_after,
    content_id
  FROM judged
),
lines AS (
  SELECT * EXCLUDE (content_id), count(DISTINCT content_id) AS items, count(*) AS "values"
  FROM shown
  GROUP BY ALL
)
SELECT lines.*, destinations.name AS destination, fields.name AS custom_field
FROM lines
LEFT JOIN diff_destinations AS destinations USING (destination_id)
LEFT JOIN diff_fields AS fields USING (custom_field_id)
ORDER BY lines.reception <> 'receiving', lines.change = 'alike', lines.change <> 'lost', lines.items DESC, COLUMNS(lines.* EXCLUDE (items, "values"))
