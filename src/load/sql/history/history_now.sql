-- Mapped values of the fields of history_fields, each once, with the places where it stands: the temporary table
-- history_now.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
--
-- input    the value as the item gives it
-- answer   what the mapping makes of it
-- variant  tells values apart that the item gives alike: 1, as good as always, and in plain lists without a look
--
-- Not kept in memory, but read again for the lists that are not plain: where there are none, nothing is read.
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
  WHERE content_id >= coalesce($1::VARCHAR, '') AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
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
