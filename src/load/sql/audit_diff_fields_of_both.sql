-- Names of the custom fields of two runs, those of the later one first.
SELECT custom_field_id, name
FROM custom_fields
UNION ALL
SELECT custom_field_id, name
FROM before_custom_fields
ANTI JOIN custom_fields USING (custom_field_id)
