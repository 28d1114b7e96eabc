-- The different versions of report_versions, in the order of their numbers.
SELECT DISTINCT
  version,
  sequence,
  day,
  begins,
  causes,
  was.name AS name_before,
  was.value_id AS value_id_before,
  was.value AS value_before,
  was.external_value AS external_value_before,
  was.status AS status_before,
  is_now.name AS name_after,
  is_now.value_id AS value_id_after,
  is_now.value AS value_after,
  is_now.external_value AS external_value_after,
  is_now.status AS status_after
FROM report_versions
ORDER BY version
