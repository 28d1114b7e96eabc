-- Fields in which an item of a range has more than one value, or its one value not in the first place: the temporary
-- table history_several.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
--
-- plain  whether the list has no gaps, and no value that is given twice: the first night, its values are numbered as they
--        stand
SELECT
  content_id,
  custom_field_id,
  count(DISTINCT mapping_input) = max(ordinal) + 1 AS plain
FROM content_custom_field_values
SEMI JOIN (
  SELECT content_id, custom_field_id
  FROM content_custom_field_values
  WHERE ordinal > 0
    AND content_id >= coalesce($1::VARCHAR, '') AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
) AS listed USING (content_id, custom_field_id)
WHERE content_id >= coalesce($1::VARCHAR, '') AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
GROUP BY content_id, custom_field_id
