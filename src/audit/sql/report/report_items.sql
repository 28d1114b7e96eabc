-- Items of a range with what of their mapped values needs attention; an item without mapped values has zeros.
--
-- $1  first content ID, inclusive; NULL: from the first item
-- $2  last content ID, exclusive; NULL: to the last item
--
-- without_external_value  values that a destination that receives values does not get
-- changed                 whether a value began or ceased to hold in this run
-- flagged                 values that are archived, ambiguous, or sent under a name shared by several fields
--
-- Reads audit_receptions and report_changed.
WITH of_item AS (
  SELECT
    content_id,
    count_if(/* value_kind */ IN (/* without_external_value */) AND reception = 'receiving') AS without_external_value,
    count_if(value_archived OR ambiguous OR collision) AS flagged,
    count(*) AS values
  FROM content_mapped_values
  LEFT JOIN audit_receptions USING (destination_id)
  WHERE content_id >= coalesce($1::VARCHAR, '')
    AND ($2::VARCHAR IS NULL OR content_id < $2::VARCHAR)
  GROUP BY content_id
)
SELECT
  content.content_id,
  coalesce(of_item.without_external_value, 0) AS without_external_value,
  content.content_id IN (FROM report_changed) AS changed,
  coalesce(of_item.flagged, 0) AS flagged,
  coalesce(of_item.values, 0) AS values
FROM content
LEFT JOIN of_item USING (content_id)
WHERE content.content_id >= coalesce($1::VARCHAR, '')
  AND ($2::VARCHAR IS NULL OR content.content_id < $2::VARCHAR)
