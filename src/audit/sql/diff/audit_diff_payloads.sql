-- Payloads that differ between two runs, among those with a changed value in diff_changes. The marks stand for the view
-- mapped_value_intervals and for payloads.
--
-- $1  sequence number of the earlier run
-- $2  that of the later one
-- $3  whether the later run sends values of fields without value mappings; applies to both
WITH touched AS (
  SELECT DISTINCT content_id, destination_id
  FROM diff_changes
  WHERE change <> 'alike'
),
mapped_value_history AS (
  SELECT *
  FROM main.mapped_value_history
  SEMI JOIN touched USING (content_id, destination_id)
),
mapped_value_order_history AS (
  SELECT *
  FROM main.mapped_value_order_history
  SEMI JOIN touched USING (content_id, destination_id)
),
intervals AS (
  /* intervals */
),
given AS (
  SELECT ends.side, intervals.*, $3::BOOLEAN AS passthrough
  FROM intervals
  JOIN (VALUES ('before', $1::BIGINT), ('after', $2::BIGINT)) AS ends (side, sequence)
    ON intervals.valid_from_sequence <= ends.sequence
    AND (intervals.valid_to_sequence IS NULL OR intervals.valid_to_sequence > ends.sequence)
),
payloads AS (
  /* payloads_of_sides */
)
SELECT content_id, destination_id
FROM payloads
GROUP BY content_id, destination_id
HAVING any_value(payload) FILTER (side = 'before') IS DISTINCT FROM any_value(payload) FILTER (side = 'after')
