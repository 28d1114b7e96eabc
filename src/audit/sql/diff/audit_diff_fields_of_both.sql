-- Names of the custom fields of two runs: what the later one called each, else the earlier one. name_before: what the
-- earlier run called it.
SELECT
  custom_field_id,
  coalesce(later.name, earlier.name) AS name,
  earlier.name AS name_before
FROM custom_fields AS later
FULL JOIN before_custom_fields AS earlier USING (custom_field_id)
