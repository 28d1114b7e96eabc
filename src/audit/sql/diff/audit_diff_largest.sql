-- The cause that touches most items in diff_shown: a definition, identified by the columns, or only a cause.
SELECT
  array_to_string(causes, ' ') AS causes,
  CASE WHEN of_definition THEN destination_id END AS destination_id,
  CASE WHEN of_definition THEN custom_field_id END AS custom_field_id,
  CASE WHEN of_definition AND NOT of_name THEN value_id_before END AS value_id_before,
  CASE WHEN of_definition AND NOT of_name THEN value_id_after END AS value_id_after,
  CASE WHEN of_name THEN name_before END AS name_before,
  CASE WHEN of_name THEN name_after END AS name_after,
  count(DISTINCT content_id) AS items
FROM (
  SELECT
    *,
    array_to_string(causes, ' ') SIMILAR TO '(mapping|definition)_changed' AS of_definition,
    of_definition AND name_before <> name_after AS of_name
  FROM diff_shown
  WHERE reception = 'receiving'
)
GROUP BY ALL
ORDER BY items DESC, causes, destination_id, custom_field_id, value_id_before, value_id_after, name_before
LIMIT 1
