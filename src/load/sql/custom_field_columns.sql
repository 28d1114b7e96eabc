-- The numbered columns, each with how many of its values do not read as its type, and the first such value. A second
-- value of a field that should have one does not: its column would be a list's text. An empty text is no value.
WITH numbers AS (
  /* numbers */
),
shown AS (
  SELECT
    numbers.field,
    item.content_id,
    item.ordinal,
    coalesce(item.value, CAST(item.value_json AS VARCHAR), item.file_id, item.value_id) AS shown,
    item.ordinal = 0 AND CASE numbers.column_type
      WHEN 'DOUBLE' THEN
        regexp_full_match(shown, '-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?')
        AND coalesce(isfinite(TRY_CAST(shown AS DOUBLE)), false)
      WHEN 'DATE' THEN regexp_full_match(shown, '[0-9]{4}-[0-9]{2}-[0-9]{2}') AND TRY_CAST(shown AS DATE) IS NOT NULL
      ELSE shown IN ('true', 'false')
    END AS reads
  FROM content_custom_field_values AS item
  JOIN numbers USING (custom_field_id)
  WHERE numbers.column_type IS NOT NULL AND shown <> ''
),
misfits_of_item AS (
  SELECT field, content_id, count(*) AS misfits, arg_min(shown, ordinal) AS example
  FROM shown
  WHERE NOT reads
  GROUP BY field, content_id
),
misfits AS (
  SELECT
    field,
    sum(misfits)::BIGINT AS misfits,
    count(*) AS items,
    min(content_id) AS content_id,
    arg_min(example, content_id) AS example
  FROM misfits_of_item
  GROUP BY field
)
SELECT
  numbers.*,
  coalesce(misfits.misfits, 0) AS misfits,
  misfits.items,
  misfits.content_id,
  misfits.example
FROM numbers
LEFT JOIN misfits USING (field)
ORDER BY field
