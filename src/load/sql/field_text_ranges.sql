-- First items of ranges with about $1 custom field values, without the range that begins with the first item.
SELECT DISTINCT content_id
FROM (
  SELECT content_id, row_number() OVER () AS place
  FROM content_custom_field_values
)
WHERE place % $1::BIGINT = 0
ORDER BY content_id
