-- Mapped values in the fields of history_fields, each once with its positions: the temporary table history_now.
--
-- input    value of the item
-- answer   result of the mapping
-- variant  number among equal inputs with different answers; nearly always 1, and always in plain lists
--
-- `given` is read a second time for lists that are not plain. Usually there are none, and nothing is read.
WITH given AS NOT MATERIALIZED (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    ordinal,
    field.state,
    field.epoch,
    value.input,
    coalesce(value.is_id, false) AS is_id,
    value.own_text,
    struct_pack(/* value_columns */) AS answer
  FROM content_mapped_values
  JOIN history_fields AS field USING (content_id, destination_id, custom_field_id)
  JOIN (
    SELECT
      content_id,
      custom_field_id,
      ordinal,
      mapping_input AS input,
      mapping_input_is_id AS is_id,
      value AS own_text
    FROM content_custom_field_values
  ) AS value USING (content_id, custom_field_id, ordinal)
  WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
),
listed AS (
  SELECT content_id, custom_field_id
  FROM history_several
  WHERE NOT plain
)
SELECT
  * EXCLUDE (ordinal),
  1 AS variant,
  [ordinal] AS ordinals
FROM given
ANTI JOIN listed USING (content_id, custom_field_id)
UNION ALL BY NAME
SELECT
  content_id,
  destination_id,
  custom_field_id,
  input,
  row_number() OVER (PARTITION BY content_id, destination_id, custom_field_id, input ORDER BY answer) AS variant,
  any_value(state) AS state,
  any_value(epoch) AS epoch,
  bool_or(is_id) AS is_id,
  min(own_text) AS own_text,
  answer,
  list_sort(list(ordinal)) AS ordinals
FROM given
SEMI JOIN listed USING (content_id, custom_field_id)
GROUP BY content_id, destination_id, custom_field_id, input, answer
