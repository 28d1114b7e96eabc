-- Rule 5: the value ID that a string in an item means. One row for each select or multiselect field and known string.
--
-- A string is an ID if a select value of the field, or an entry of its mappings, has it as ID. Any other string is a
-- text: it means the first select value with this `value`, else the first with this `display`.
--
-- fits_several             the text is the `value` or the `display` of more than one select value
WITH select_fields AS (
  SELECT custom_field_id
  FROM custom_fields
  WHERE field_type IN ('select', 'multiselect')
),
ids AS (
  SELECT custom_field_id, value_id
  FROM custom_field_select_values
  UNION
  SELECT mapping.custom_field_id, entry.value_id
  FROM custom_field_mapping_values AS entry
  JOIN custom_field_mappings AS mapping USING (mapping_id)
  WHERE entry.value_id IS NOT NULL
),
spellings AS (
  SELECT custom_field_id, value AS input, value_id, ordinal, 1 AS preference
  FROM custom_field_select_values
  UNION ALL
  SELECT custom_field_id, display AS input, value_id, ordinal, 2 AS preference
  FROM custom_field_select_values
),
fits AS (
  SELECT custom_field_id, input, value_id, ordinal, min(preference) AS preference
  FROM spellings
  ANTI JOIN ids ON ids.custom_field_id = spellings.custom_field_id AND ids.value_id = spellings.input
  WHERE input IS NOT NULL
  GROUP BY custom_field_id, input, value_id, ordinal
),
texts AS (
  SELECT
    custom_field_id,
    input,
    value_id,
    count(*) OVER (PARTITION BY custom_field_id, input) > 1 AS fits_several
  FROM fits
  QUALIFY row_number() OVER (PARTITION BY custom_field_id, input ORDER BY preference, ordinal, value_id) = 1
)
SELECT custom_field_id, value_id AS input, value_id, false AS matched_by_text, false AS fits_several
FROM ids
SEMI JOIN select_fields USING (custom_field_id)
UNION ALL
SELECT custom_field_id, input, value_id, true AS matched_by_text, fits_several
FROM texts
SEMI JOIN select_fields USING (custom_field_id)
