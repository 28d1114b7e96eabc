-- Columns of content_wide for custom fields, in their order, numbered from 1.
--
-- part         value, file_name or file_url
-- column_type  type by the definition of the field; NULL for text and lists of texts
SELECT
  CAST(row_number() OVER (ORDER BY custom_fields.name, custom_field_id, parts.place) AS INTEGER) AS field,
  custom_field_id,
  parts.part,
  coalesce(name, '') || parts.suffix AS name,
  coalesce(field_type, 'type unknown') AS type,
  coalesce(display_label, name, '') AS label,
  coalesce(field_type = 'multiselect', false) AS is_list,
  coalesce(field_type IN ('file', 'image'), false) AS is_file,
  CASE
    WHEN field_type IN ('number', 'currency', 'percentage') THEN 'DOUBLE'
    WHEN field_type = 'date' THEN 'DATE'
    WHEN field_type = 'boolean' THEN 'BOOLEAN'
  END AS column_type
FROM custom_fields
JOIN (VALUES (1, 'value', ''), (2, 'file_name', '_file_name'), (3, 'file_url', '_file_url')) AS parts(place, part, suffix)
  ON parts.part = 'value' OR field_type IN ('file', 'image')
ORDER BY field
