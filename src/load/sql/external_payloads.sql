-- content_external_payloads of a range of items, from its rows of content_mapped_values. Rule 7: one key per external
-- field name, always an array.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
-- $3  whether values of fields without value mappings are sent too, as they are
--
-- Values stand in ascending order of custom field ID, then in source order; keys in ascending order of their bytes,
-- so that a payload's text changes only where its content does, whatever becomes of the IDs of the definitions.
--
-- A list per payload, sorted in itself: aggregates with an ORDER BY of their own need gigabytes for as many groups.
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
  GROUP BY content_id, destination_id
),
written AS (
  SELECT
    content_id,
    destination_id,
    destination_unsupported,
    list_transform(
      entries,
      lambda entry, place:
        CASE
          WHEN place = 1 THEN '{' || to_json(entry.name) || ':['
          WHEN entry.name = entries[place - 1].name THEN ','
          ELSE '],' || to_json(entry.name) || ':['
        END || to_json(entry.sent_value)
    ) AS pieces
  FROM payloads
)
SELECT
  content_id,
  destination_id,
  CAST(array_to_string(pieces, '') || ']}' AS JSON) AS payload,
  destination_unsupported
FROM written
ORDER BY content_id, destination_id
