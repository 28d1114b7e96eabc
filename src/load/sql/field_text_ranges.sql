-- The first item of each range of about so many custom field values, but for the range that begins with the first item.
--
-- $1  values of a range
SELECT DISTINCT content_id
FROM (
  SELECT content_id, row_number() OVER () AS place
  FROM content_custom_field_values
)
WHERE place % $1::BIGINT = 0
ORDER BY content_id
