-- Chosen items of some places with their mapped values, in the order of the payloads: a row for each value, and one for an
-- item without any.
--
-- $1  first place
-- $2  last place
-- $3  longest text, in characters; longer ones are cut
SELECT
  chosen.content_id,
  left(content.title, $3::BIGINT) || CASE WHEN length(content.title) > $3::BIGINT THEN '…' ELSE '' END AS title,
  coalesce(content_types.display_name, content_types.field_name, content.content_type_id) AS type,
  strftime(content.published_date, '%Y-%m-%d') AS published,
  chosen.without_external_value AS without,
  ledger.destination_id,
  destinations.identification AS destination,
  ledger.custom_field_id,
  custom_fields.name AS custom_field,
  ledger.external_field_name,
  ledger.value_id,
  left(ledger.value, $3::BIGINT) AS value,
  ledger.mapping_id,
  ledger.mapping_value_id,
  left(ledger.external_value, $3::BIGINT) AS external_value,
  ledger.status,
  coalesce(ledger.value_archived, false) AS value_archived,
  coalesce(ledger.ambiguous, false) AS ambiguous,
  coalesce(ledger.matched_by_text, false) AS matched_by_text,
  coalesce(ledger.collision, false) AS collision,
  since.sequence AS since,
  since.causes
FROM report_chosen AS chosen
JOIN content USING (content_id)
LEFT JOIN content_types USING (content_type_id)
LEFT JOIN content_mapped_values AS ledger ON ledger.content_id = chosen.content_id
LEFT JOIN destinations ON destinations.destination_id = ledger.destination_id
LEFT JOIN custom_fields ON custom_fields.custom_field_id = ledger.custom_field_id
LEFT JOIN report_since AS since
  ON since.content_id = ledger.content_id
  AND since.destination_id = ledger.destination_id
  AND since.custom_field_id = ledger.custom_field_id
  AND since.matched_by_text = ledger.matched_by_text
  AND since.value_id IS NOT DISTINCT FROM ledger.value_id
  AND since.text IS NOT DISTINCT FROM CASE WHEN ledger.value_id IS NULL THEN ledger.value END
WHERE chosen.place BETWEEN $1::BIGINT AND $2::BIGINT
ORDER BY
  chosen.place,
  ledger.destination_id,
  ledger.external_field_name NULLS LAST,
  ledger.custom_field_id,
  ledger.ordinal
