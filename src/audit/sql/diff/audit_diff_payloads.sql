-- Payloads that differ between the two sides of diff_given. Of a payload the fields of diff_given alone are looked at: the
-- others are as they were. The text of payloads stands in place of the mark.
--
-- $1  whether values of fields without value mappings are sent, as they are; on both sides what the later run says
WITH given AS (
  SELECT *, $1::BOOLEAN AS passthrough
  FROM diff_given
),
payloads AS (
  /* payloads_of_sides */
)
SELECT content_id, destination_id
FROM payloads
GROUP BY content_id, destination_id
HAVING any_value(payload) FILTER (side = 'before') IS DISTINCT FROM any_value(payload) FILTER (side = 'after')
