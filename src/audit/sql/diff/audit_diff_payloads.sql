-- Payloads that differ between the two sides of diff_given. Of a payload the fields of diff_given alone are looked at: the
-- others are as they were. What makes the entries and the text of a payload stands in place of the marks.
--
-- $1  whether values of fields without value mappings are sent, as they are; on both sides what the later run says
WITH sent AS (
  SELECT
    side,
    content_id,
    destination_id,
    external_field_name,
    custom_field_id,
    ordinal,
    CASE status WHEN 'mapped' THEN external_value ELSE value END AS sent_value
  FROM diff_given
  WHERE status = 'mapped' OR (status = 'no_value_mapping' AND $1::BOOLEAN)
),
payloads AS (
  SELECT side, content_id, destination_id, /* payload_entries */ AS entries
  FROM sent
  WHERE external_field_name IS NOT NULL AND sent_value IS NOT NULL
  GROUP BY side, content_id, destination_id
),
texts AS (
  SELECT side, content_id, destination_id, /* payload_text */ AS payload
  FROM payloads
)
SELECT content_id, destination_id
FROM texts
GROUP BY content_id, destination_id
HAVING any_value(payload) FILTER (side = 'before') IS DISTINCT FROM any_value(payload) FILTER (side = 'after')
