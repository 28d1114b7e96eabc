-- The mapped values of the chosen items with values as JSON, each with the index of its item.
--
-- $1  longest text, in characters; longer ones are cut
--
-- sent  what the destination receives, or would if it received values; NULL: nothing
SELECT
  to_json(
    {
      'item': chosen.place - 1,
      'destination_id': mapped_values.destination_id,
      'destination': receptions.destination,
      'reception': receptions.reception,
      'custom_field_id': mapped_values.custom_field_id,
      'custom_field': custom_fields.name,
      'external_field_name': mapped_values.external_field_name,
      'value_id': mapped_values.value_id,
      'value': left(mapped_values.value, $1::BIGINT),
      'mapping_id': mapped_values.mapping_id,
      'mapping_value_id': mapped_values.mapping_value_id,
      'external_value': left(mapped_values.external_value, $1::BIGINT),
      'status': mapped_values.status,
      'flags': list_filter(
        [
          CASE WHEN mapped_values.value_archived THEN 'archived' END,
          CASE WHEN mapped_values.ambiguous THEN 'ambiguous' END,
          CASE WHEN mapped_values.matched_by_text THEN 'matched_by_text' END,
          CASE WHEN mapped_values.collision THEN 'collision' END
        ],
        lambda flag: flag IS NOT NULL
      ),
      'sent': left(
        CASE
          WHEN mapped_values.external_field_name IS NULL THEN NULL
          WHEN mapped_values.status = 'mapped' THEN mapped_values.external_value
          WHEN mapped_values.status = 'no_value_mapping' AND run.passthrough THEN mapped_values.value
        END,
        $1::BIGINT
      ),
      'since': since.sequence,
      'causes': since.causes
    }
  )::VARCHAR AS row
FROM content_mapped_values AS mapped_values
JOIN report_chosen AS chosen ON chosen.content_id = mapped_values.content_id AND chosen.has_values
CROSS JOIN run
LEFT JOIN audit_receptions AS receptions ON receptions.destination_id = mapped_values.destination_id
LEFT JOIN custom_fields ON custom_fields.custom_field_id = mapped_values.custom_field_id
LEFT JOIN report_since AS since
  ON since.content_id = mapped_values.content_id
  AND since.destination_id = mapped_values.destination_id
  AND since.custom_field_id = mapped_values.custom_field_id
  AND since.matched_by_text = mapped_values.matched_by_text
  AND since.value_id IS NOT DISTINCT FROM mapped_values.value_id
  AND since.text IS NOT DISTINCT FROM CASE WHEN mapped_values.value_id IS NULL THEN mapped_values.value END
ORDER BY
  chosen.place,
  mapped_values.destination_id,
  mapped_values.external_field_name NULLS LAST,
  mapped_values.custom_field_id,
  mapped_values.ordinal
