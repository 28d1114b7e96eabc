-- Payloads of content_external_payloads with a column for each external field name, which are the mark.
WITH payloads AS (
  SELECT content_id, destination_id, receives, CAST(payload AS MAP(VARCHAR, VARCHAR[])) AS members
  FROM content_external_payloads
)
SELECT
  payloads.content_id,
  payloads.destination_id,
  coalesce(destinations.identification, payloads.destination_id) AS destination,
  payloads.receives
  /* columns */
FROM payloads
LEFT JOIN destinations USING (destination_id)
