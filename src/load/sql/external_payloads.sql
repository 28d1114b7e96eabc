-- Rows of content_external_payloads of a range of items, from content_mapped_values. The mark is the text of payloads.
--
-- $1, $2  range of content IDs: lower bound (inclusive) and upper bound (exclusive); NULL is open
-- $3      whether values of fields without value mappings are sent as they are
WITH given AS (
  SELECT *, $3::BOOLEAN AS passthrough
  FROM content_mapped_values
  WHERE content_id >= coalesce($1::VARCHAR, '')
    AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
),
payloads AS (
  /* payloads */
)
SELECT content_id, destination_id, CAST(payload AS JSON) AS payload, receives
FROM payloads
ORDER BY content_id, destination_id
