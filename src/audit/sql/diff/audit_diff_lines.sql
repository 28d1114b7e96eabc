-- The changes of diff_shown by what became of what, a line each however many items it touches. The texts of fields
-- without value mappings count together, and so do the fields that are in another order. What is true of a field's
-- values whatever they are (another external name, a destination that supports mappings now, a collision) is one line
-- without a value, and its flags are those that came and went.
WITH judged AS (
  SELECT
    *,
    coalesce(
      status_before = status_after
      AND value_id_before IS NOT DISTINCT FROM value_id_after
      AND value_before IS NOT DISTINCT FROM value_after
      AND external_value_before IS NOT DISTINCT FROM external_value_after
      AND mapping_value_id_before IS NOT DISTINCT FROM mapping_value_id_after
      AND regexp_replace(flags_before, ' ?(destination_unsupported|collision)', '', 'g')
      = regexp_replace(flags_after, ' ?(destination_unsupported|collision)', '', 'g'),
      false
    ) AS of_field,
    string_split(flags_before, ' ') AS words_before,
    string_split(flags_after, ' ') AS words_after
  FROM diff_shown
),
shown AS (
  SELECT
    * EXCLUDE (of_field, words_before, words_after)
    REPLACE (
      CASE WHEN status_before <> 'no_value_mapping' AND NOT of_field THEN value_before END AS value_before,
      CASE WHEN status_after <> 'no_value_mapping' AND NOT of_field THEN value_after END AS value_after,
      CASE WHEN NOT of_field THEN value_id_before END AS value_id_before,
      CASE WHEN NOT of_field THEN value_id_after END AS value_id_after,
      CASE WHEN NOT of_field THEN mapping_value_id_before END AS mapping_value_id_before,
      CASE WHEN NOT of_field THEN mapping_value_id_after END AS mapping_value_id_after,
      CASE WHEN status_before <> 'no_value_mapping' AND NOT of_field THEN external_value_before END
        AS external_value_before,
      CASE WHEN status_after <> 'no_value_mapping' AND NOT of_field THEN external_value_after END
        AS external_value_after,
      CASE WHEN NOT of_field THEN status_before END AS status_before,
      CASE WHEN NOT of_field THEN status_after END AS status_after,
      CASE
        WHEN of_field
          THEN array_to_string(list_filter(words_before, lambda word: NOT list_contains(words_after, word)), ' ')
        ELSE flags_before
      END AS flags_before,
      CASE
        WHEN of_field
          THEN array_to_string(list_filter(words_after, lambda word: NOT list_contains(words_before, word)), ' ')
        ELSE flags_after
      END AS flags_after
    )
  FROM judged
),
of_item AS (
  SELECT * EXCLUDE (ordinal), count(*) AS "values"
  FROM shown
  GROUP BY ALL
),
of_line AS (
  SELECT * EXCLUDE (content_id, "values"), count(*)::BIGINT AS items, sum("values")::BIGINT AS "values"
  FROM of_item
  GROUP BY ALL
)
SELECT
  array_to_string(of_line.causes, ' ') AS causes,
  of_line.destination_id,
  destinations.name AS destination,
  of_line.custom_field_id,
  fields.name AS custom_field,
  of_line.change,
  of_line.* EXCLUDE (causes, destination_id, custom_field_id, change, items, "values"),
  of_line.items,
  of_line."values"
FROM of_line
LEFT JOIN diff_destinations AS destinations USING (destination_id)
LEFT JOIN diff_fields AS fields USING (custom_field_id)
ORDER BY
  causes NULLS LAST,
  destination NULLS LAST,
  of_line.destination_id,
  custom_field NULLS LAST,
  of_line.custom_field_id,
  of_line.items DESC,
  of_line.change,
  of_line.value_before NULLS LAST,
  of_line.value_after NULLS LAST,
  of_line.value_id_before,
  of_line.value_id_after,
  of_line.name_before,
  of_line.name_after,
  of_line.external_value_before,
  of_line.external_value_after,
  of_line.status_before,
  of_line.status_after,
  of_line.flags_before,
  of_line.flags_after,
  of_line.mapping_id_before,
  of_line.mapping_id_after,
  of_line.mapping_value_id_before,
  of_line.mapping_value_id_after,
  of_line.copies_before,
  of_line.copies_after,
  of_line.definitions_from
