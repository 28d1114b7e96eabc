-- content_external_payloads of a range of items, from its rows of content_mapped_values. The text of payloads stands in
-- place of the mark.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
-- $3  whether values of fields without value mappings are sent too, as they are
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
