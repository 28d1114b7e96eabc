-- Compares the published content_mapped_values of a range of items with what_if_after, the same by the edited mappings. One
-- row per value of an item that would be sent under another name, as another value, newly, or no longer.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
-- $3  whether values of fields without value mappings are sent, as they are
--
-- Not materialized: reading each side again needs less memory.
WITH sides AS NOT MATERIALIZED (
  SELECT 'published' AS side, *
  FROM content_mapped_values
  WHERE content_id >= coalesce($1::VARCHAR, '')
    AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
  UNION ALL BY NAME
  SELECT 'edited' AS side, *
  FROM what_if_after
),
mapped AS NOT MATERIALIZED (
  SELECT
    *,
    external_field_name AS name,
    CASE
      WHEN external_field_name IS NULL THEN NULL
      WHEN status = 'mapped' THEN external_value
      WHEN status = 'no_value_mapping' AND $3::BOOLEAN THEN value
    END AS sent
  FROM sides
)
SELECT
  content_id,
  destination_id,
  custom_field_id,
  ordinal,
  coalesce(edited.value_id, published.value_id) AS value_id,
  coalesce(edited.value, published.value) AS value,
  published.status AS status_before,
  edited.status AS status_after,
  CASE WHEN published.sent IS NOT NULL THEN published.name END AS name_before,
  published.sent AS external_value_before,
  CASE WHEN edited.sent IS NOT NULL THEN edited.name END AS name_after,
  edited.sent AS external_value_after,
  CASE WHEN published.sent IS NULL THEN 'gained' WHEN edited.sent IS NULL THEN 'lost' ELSE 'changed' END AS change
FROM (FROM mapped WHERE side = 'published') AS published
FULL JOIN (FROM mapped WHERE side = 'edited') AS edited USING (content_id, destination_id, custom_field_id, ordinal)
WHERE published.sent IS DISTINCT FROM edited.sent
  OR (published.sent IS NOT NULL AND published.name IS DISTINCT FROM edited.name)
