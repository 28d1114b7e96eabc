-- Rows of content_external_payloads of a range of items, from content_mapped_values. The mark is the text of payloads.
--
-- $3      whether values of fields without value mappings are sent as they are
WITH given AS (
  SELECT *, $3::BOOLEAN AS passthrough
  FROM content_mapped_values
  WHERE content_id >= $1 AND ($2 IS NULL OR content_id < $2)
)
SELECT content_id, destination_id, CAST(payload AS JSON) AS payload, receives
FROM (/* payloads */)
ORDER BY content_id, destination_id
