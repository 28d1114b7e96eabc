-- Texts of custom fields that content_wide shows, a row for each item, by the number of the column. A multiselect has
-- a list of texts. Several values of another field are a JSON array, or NULL if the column has a type. A text that
-- does not read as that type is NULL. The mark `files` is the table of files, or an empty one.
WITH shown AS (
  SELECT
    item.content_id,
    numbers.field,
    numbers.is_list,
    numbers.column_type,
    item.ordinal,
    CASE
      WHEN NOT numbers.is_file
        THEN coalesce(
          item.select_value,
          item.value,
          offered.value,
          item.file_id,
          CAST(item.value_json AS VARCHAR),
          item.value_id
        )
      WHEN numbers.part = 'value' THEN coalesce(item.file_id, item.value, CAST(item.value_json AS VARCHAR))
      WHEN numbers.part = 'file_name' THEN file.file_name
      ELSE coalesce(file.file_url, CASE WHEN contains(item.value, '://') THEN item.value END)
    END AS given
  FROM content_custom_field_values AS item
  JOIN (/* numbers */) AS numbers USING (custom_field_id)
  LEFT JOIN custom_field_select_values AS offered USING (custom_field_id, value_id)
  LEFT JOIN /* files */ AS file USING (file_id)
  WHERE content_id >= $1 AND ($2 IS NULL OR content_id < $2)
    AND given IS NOT NULL
),
-- They are few, so that few lists are made.
several AS (
  SELECT DISTINCT content_id, field
  FROM shown
  WHERE ordinal > 0 AND NOT is_list
),
grouped AS (
  SELECT
    content_id,
    field,
    is_list,
    map_values(map_from_entries(list_sort(list({'ordinal': ordinal, 'given': given})))) AS shown
  FROM shown
  LEFT JOIN several USING (content_id, field)
  WHERE is_list OR (several.field IS NOT NULL AND column_type IS NULL)
  GROUP BY content_id, field, is_list
),
single AS (
  SELECT
    content_id,
    field,
    /* reading */ AS shown
  FROM shown
  ANTI JOIN several USING (content_id, field)
  WHERE NOT is_list
  UNION ALL
  SELECT content_id, field, CASE WHEN len(shown) > 1 THEN CAST(to_json(shown) AS VARCHAR) ELSE shown[1] END AS shown
  FROM grouped
  WHERE NOT is_list
),
texts AS (
  SELECT content_id, map(list(field), list(shown)) AS texts
  FROM single
  GROUP BY content_id
),
lists AS (
  SELECT content_id, map(list(field), list(shown)) AS lists
  FROM grouped
  WHERE is_list
  GROUP BY content_id
)
SELECT
  content.content_id,
  texts.texts,
  lists.lists
FROM content
LEFT JOIN texts USING (content_id)
LEFT JOIN lists USING (content_id)
WHERE content_id >= $1 AND ($2 IS NULL OR content_id < $2)
ORDER BY content_id
