-- Values that do not read as the type of their custom field, by column of content_wide, with an example. Further
-- values of a field with a single value count, too. An empty text is no value.
WITH misfits AS (
  SELECT
    numbers.field,
    item.content_id,
    item.ordinal,
    coalesce(item.select_value, item.value, item.file_id, CAST(item.value_json AS VARCHAR), item.value_id) AS given
  FROM content_custom_field_values AS item
  JOIN (/* numbers */) AS numbers USING (custom_field_id)
  WHERE numbers.column_type IS NOT NULL
    AND given <> ''
    AND (
      item.ordinal > 0
      OR (/* reading */) IS NULL
    )
)
SELECT
  field,
  count(*) AS misfits,
  count(DISTINCT content_id) AS items,
  min(content_id) AS content_id,
  arg_min(given, {'content_id': content_id, 'ordinal': ordinal}) AS example
FROM misfits
GROUP BY field
ORDER BY field
