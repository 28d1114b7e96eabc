-- The mapped values of the chosen items, each with the number of its answer, values that say the same have the same, and
-- with that of its version in report_versions.
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
    versions.version
  FROM content_mapped_values AS ledger
  JOIN report_chosen AS chosen USING (content_id)
  LEFT JOIN report_versions AS versions USING (content_id, destination_id, custom_field_id, ordinal)
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
