-- payloads_as_of(instant): content_external_payloads as the last run found it that had started by then. What an
-- unsettled run did not see counts as it was.
WITH at_run AS (
  SELECT max(run_history.sequence) AS sequence
  FROM run_history
  WHERE run_history.started_at <= CAST(instant AS TIMESTAMPTZ)
),
sent AS (
  SELECT
    intervals.content_id AS item,
    intervals.destination_id AS destination,
    intervals.destination_unsupported,
    intervals.external_field_name,
    intervals.custom_field_id,
    intervals.ordinal,
    CASE intervals.status WHEN 'mapped' THEN intervals.external_value ELSE intervals.value END AS sent_value
  FROM mapped_value_intervals AS intervals, at_run
  WHERE intervals.valid_from_sequence <= at_run.sequence
    AND (intervals.valid_to_sequence IS NULL OR intervals.valid_to_sequence > at_run.sequence)
    AND (
      intervals.status = 'mapped'
      OR (
        intervals.status = 'no_value_mapping'
        AND (SELECT run_history.passthrough FROM run_history JOIN at_run USING (sequence))
      )
    )
),
payloads AS (
  SELECT
    item,
    destination,
    bool_or(destination_unsupported) AS unsupported,
    /* payload_entries */ AS entries
  FROM sent
  WHERE external_field_name IS NOT NULL AND sent_value IS NOT NULL
  GROUP BY item, destination
)
SELECT
  item AS content_id,
  destination AS destination_id,
  CAST(/* payload_text */ AS JSON) AS payload,
  unsupported AS destination_unsupported
FROM payloads
