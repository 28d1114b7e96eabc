-- The mapped values of the chosen items, each with the number of its answer, values that say the same have the same, and
-- with that of its version in report_since.
--
-- $1  longest text, in characters; longer ones are cut
WITH cut AS (
  SELECT
    chosen.place,
    ledger.destination_id,
    ledger.custom_field_id,
    ledger.ordinal,
    ledger.external_field_name,
    ledger.value_id,
    left(ledger.value, $1::BIGINT) AS value,
    ledger.mapping_id,
    ledger.mapping_value_id,
    left(ledger.external_value, $1::BIGINT) AS external_value,
    ledger.status,
    ledger.value_archived,
    ledger.ambiguous,
    ledger.matched_by_text,
    ledger.collision,
    coalesce(length(ledger.value) > $1::BIGINT OR length(ledger.external_value) > $1::BIGINT, false) AS shortened,
    since.version
  FROM content_mapped_values AS ledger
  JOIN report_chosen AS chosen USING (content_id)
  LEFT JOIN report_since AS since
    ON since.content_id = ledger.content_id
    AND since.destination_id = ledger.destination_id
    AND since.custom_field_id = ledger.custom_field_id
    AND since.matched_by_text = ledger.matched_by_text
    AND since.value_id IS NOT DISTINCT FROM ledger.value_id
    AND since.text IS NOT DISTINCT FROM CASE WHEN ledger.value_id IS NULL THEN ledger.value END
)
SELECT
  *,
  dense_rank() OVER (
    ORDER BY
      destination_id,
      external_field_name,
      custom_field_id,
      value_id,
      value,
      mapping_id,
      mapping_value_id,
      external_value,
      status,
      value_archived,
      ambiguous,
      matched_by_text,
      collision,
      shortened
  ) - 1 AS answer
FROM cut
