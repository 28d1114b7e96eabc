-- The chosen items and their mapped values as JSON. Values have the place of their item; the other columns of the order are
-- NULL in the row of the item itself.
--
-- $1  longest text, in characters; longer ones are cut
--
-- sent  what the destination receives, or would if it received values; NULL: nothing
SELECT
  chosen.place,
  mapped_values.destination_id,
  mapped_values.external_field_name,
  mapped_values.custom_field_id,
  mapped_values.ordinal,
  to_json(
    {
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
JOIN report_chosen AS chosen USING (content_id)
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
UNION ALL BY NAME
SELECT
  chosen.place,
  to_json(
    {
      'id': content_id,
      'title': left(content.title, $1::BIGINT) || CASE WHEN length(content.title) > $1::BIGINT THEN '…' ELSE '' END,
      'type': coalesce(content_types.display_name, content_types.field_name, content.content_type_id),
      'published': strftime(content.published_date, '%Y-%m-%d'),
      'without': chosen.without_external_value,
      'values': []
    }
  )::VARCHAR AS row
FROM report_chosen AS chosen
JOIN content USING (content_id)
LEFT JOIN content_types USING (content_type_id)
