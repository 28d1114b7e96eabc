-- Names of the custom fields that the run or its history knows, also of those that are gone.
SELECT custom_field_id, name
FROM custom_fields
UNION ALL
SELECT custom_field_id, max_by(name, valid_from_run) AS name
FROM custom_field_history
WHERE custom_field_id NOT IN (SELECT custom_field_id FROM custom_fields)
GROUP BY custom_field_id
