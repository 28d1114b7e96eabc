-- The different answers of the ledger of the report, in the order of their numbers.
SELECT DISTINCT
  answer,
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
FROM report_ledger
ORDER BY answer
