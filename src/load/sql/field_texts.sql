-- What content_wide shows of the items of a range, a row for each item: the texts of its custom fields by the number of
-- the column; lists of texts where the field is a multiselect. A text of another field with several values is a JSON
-- array, or none if its column has a type; so is a text that does not read as that type. A pipeline may lack the files:
-- what stands in for them is in place of the mark.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
WITH numbers AS (
  /* numbers */
),
shown AS (
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
  JOIN numbers USING (custom_field_id)
  LEFT JOIN custom_field_select_values AS offered USING (custom_field_id, value_id)
  LEFT JOIN /* files */ AS file USING (file_id)
  WHERE content_id >= coalesce($1::VARCHAR, '')
    AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
    AND given IS NOT NULL
),
-- Hardly any: so that lists are made of few values.
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
WHERE content_id >= coalesce($1::VARCHAR, '')
  AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
ORDER BY content_id
