-- Values that do not read as the type of their custom field, by column of content_wide, with an example. Further
-- values of a field with a single value count, too. An empty text is no value.
WITH numbers AS (
  /* numbers */
),
misfits AS (
  SELECT
    numbers.field,
    item.content_id,
    item.ordinal,
    coalesce(item.select_value, item.value, item.file_id, CAST(item.value_json AS VARCHAR), item.value_id) AS given
  FROM content_custom_field_values AS item
  JOIN numbers USING (custom_field_id)
  WHERE numbers.column_type IS NOT NULL
    AND given <> ''
    AND (
      item.ordinal > 0
      OR (/* reading */) IS NULL
    )
),
misfits_of_item AS (
  SELECT field, content_id, count(*) AS misfits, arg_min(given, ordinal) AS example
  FROM misfits
  GROUP BY field, content_id
)
SELECT
  field,
  sum(misfits)::BIGINT AS misfits,
  count(*) AS items,
  min(content_id) AS content_id,
  arg_min(example, content_id) AS example
FROM misfits_of_item
GROUP BY field
ORDER BY field
