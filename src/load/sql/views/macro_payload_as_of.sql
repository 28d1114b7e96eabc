-- payload_as_of(content_id, destination_id, instant): the payload that a destination would have received for an item;
-- NULL where there was none.
(
  SELECT
    CAST(
      '{' || string_agg(to_json(members.name) || ':[' || members.sent_values || ']', ',' ORDER BY members.name) || '}'
      AS JSON
    )
  FROM (
    SELECT
      sent.external_field_name AS name,
      string_agg(CAST(to_json(sent.sent_value) AS VARCHAR), ',' ORDER BY sent.field, sent.ordinal) AS sent_values
    FROM (
      SELECT
        intervals.external_field_name,
        intervals.custom_field_id AS field,
        intervals.ordinal,
        CASE intervals.status WHEN 'mapped' THEN intervals.external_value ELSE intervals.value END AS sent_value
      -- Apart, because the parameters have the names of columns.
      FROM (SELECT content_id AS item, destination_id AS destination, instant AS at) AS asked
      CROSS JOIN mapped_value_intervals AS intervals
      JOIN run_history
        ON intervals.valid_from_sequence <= run_history.sequence
        AND (intervals.valid_to_sequence IS NULL OR intervals.valid_to_sequence > run_history.sequence)
      WHERE intervals.content_id = asked.item
        AND intervals.destination_id = asked.destination
        AND run_history.sequence = (
          SELECT max(until.sequence)
          FROM run_history AS until
          WHERE until.started_at <= CAST(asked.at AS TIMESTAMPTZ)
        )
        AND (intervals.status = 'mapped' OR (intervals.status = 'no_value_mapping' AND run_history.passthrough))
    ) AS sent
    WHERE sent.external_field_name IS NOT NULL AND sent.sent_value IS NOT NULL
    GROUP BY sent.external_field_name
  ) AS members
)
