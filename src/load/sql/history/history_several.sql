-- Fields in which an item has several values, or its only value not in the first position: the temporary table
-- history_several.
--
-- plain  whether the list has no gaps and no repeated value; values of new items are numbered by position
SELECT
  content_id,
  custom_field_id,
  count(DISTINCT mapping_input) = max(ordinal) + 1 AS plain
FROM content_custom_field_values
SEMI JOIN (
  SELECT content_id, custom_field_id
  FROM content_custom_field_values
  WHERE ordinal > 0
    AND content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
) AS listed USING (content_id, custom_field_id)
WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
GROUP BY content_id, custom_field_id
