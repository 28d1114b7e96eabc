-- content_external_payloads of a range of items, from its rows of content_mapped_values. Rule 7: one key per external
-- field name, always an array.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
-- $3  whether values of fields without value mappings are sent too, as they are
WITH sent AS (
  SELECT
    content_id,
    destination_id,
    destination_unsupported,
    external_field_name,
    custom_field_id,
    ordinal,
    CASE status WHEN 'mapped' THEN external_value ELSE value END AS sent_value
  FROM content_mapped_values
  WHERE (status = 'mapped' OR (status = 'no_value_mapping' AND $3::BOOLEAN))
    AND content_id >= coalesce($1::VARCHAR, '')
    AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
),
payloads AS (
  SELECT
    content_id,
    destination_id,
    any_value(destination_unsupported) AS destination_unsupported,
    /* payload_entries */ AS entries
  FROM sent
  WHERE external_field_name IS NOT NULL AND sent_value IS NOT NULL
  GROUP BY content_id, destination_id
)
SELECT
  content_id,
  destination_id,
  CAST(/* payload_text */ AS JSON) AS payload,
  destination_unsupported
FROM payloads
ORDER BY content_id, destination_id
