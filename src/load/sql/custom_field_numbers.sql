-- The custom fields in the order of their columns in content_wide, numbered from 1.
SELECT
  CAST(row_number() OVER (ORDER BY custom_fields.name, custom_field_id) AS INTEGER) AS field,
  custom_field_id,
  coalesce(name, '') AS name,
  coalesce(field_type, 'type unknown') AS type,
  coalesce(display_label, name, '') AS label,
  coalesce(field_type = 'multiselect', false) AS is_list
FROM custom_fields
ORDER BY field
