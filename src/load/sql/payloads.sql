-- Payloads of the mapped values in `given`, which has the columns of content_mapped_values, and `passthrough`:
-- whether values of fields without value mappings are sent as they are. The mark is the key of a payload. Rule 7: one
-- key per external field name, always an array. Values are in ascending order of custom field ID, then in source
-- order; keys are in byte order. So the text of a payload changes only with its content.
--
-- Sorts one list per payload, because aggregates with ORDER BY need gigabytes for so many groups.
WITH sent AS (
  SELECT *, CASE status WHEN 'mapped' THEN external_value ELSE value END AS sent_value
  FROM given
  WHERE status = 'mapped' OR (status = 'no_value_mapping' AND passthrough)
),
entries AS (
  SELECT
    /* payload_of */,
    bool_and(receives) AS receives,
    list_sort(
      list(
        {
          'name': external_field_name,
          'custom_field_id': custom_field_id,
          'ordinal': ordinal,
          'sent_value': sent_value
        }
      )
    ) AS entries
  FROM sent
  WHERE external_field_name IS NOT NULL AND sent_value IS NOT NULL
  GROUP BY /* payload_of */
)
SELECT
  /* payload_of */,
  array_to_string(
    list_transform(
      entries,
      lambda entry, place:
        CASE
          WHEN place = 1 THEN '{' || to_json(entry.name) || ':['
          WHEN entry.name = entries[place - 1].name THEN ','
          ELSE '],' || to_json(entry.name) || ':['
        END || to_json(entry.sent_value)
    ),
    ''
  ) || ']}' AS payload,
  receives
FROM entries
