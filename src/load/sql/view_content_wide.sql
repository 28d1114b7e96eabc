-- content with one column per custom field. The columns of the run's fields stand in place of the two marks.
WITH field_values AS (
  SELECT
    item.content_id,
    item.custom_field_id,
    item.ordinal,
    coalesce(item.value, offered.value, item.file_id, CAST(item.value_json AS VARCHAR), item.value_id) AS shown
  FROM content_custom_field_values AS item
  LEFT JOIN custom_field_select_values AS offered USING (custom_field_id, value_id)
),
fields AS (
  SELECT
    content_id
    /* lists */
  FROM field_values
  WHERE shown IS NOT NULL
  GROUP BY content_id
)
SELECT
  content.*
  /* columns */
FROM content
LEFT JOIN fields USING (content_id)
