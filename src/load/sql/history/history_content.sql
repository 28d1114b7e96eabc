-- Rows of content_history of the items of history_items.
--
-- Items in history_kept, whose values an unsettled run could not see, have no digest: the next run compares them again.
SELECT
  before.* REPLACE (
    CASE WHEN item.state = 'removed' THEN $run ELSE before.valid_to_run END AS valid_to_run,
    CASE WHEN item.state = 'removed' THEN $started_at ELSE before.valid_to END AS valid_to,
    CASE WHEN item.state = 'removed' THEN '["item_removed"]'::JSON ELSE before.valid_to_cause END AS valid_to_cause,
    CASE WHEN item.state IN ('same', 'changed') THEN NULL ELSE before.last_seen_run END AS last_seen_run,
    CASE
      WHEN content_id IN (SELECT content_id FROM history_kept) THEN NULL
      WHEN item.state IN ('same', 'changed') THEN item.digest
      ELSE before.values_digest
    END AS values_digest
  )
FROM previous_content_history AS before
JOIN history_items AS item USING (content_id)
WHERE before.valid_to_run IS NULL
  AND content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
UNION ALL BY NAME
SELECT *
FROM previous_content_history
WHERE valid_to_run IS NOT NULL
  AND content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
UNION ALL BY NAME
SELECT
  content_id,
  $run AS valid_from_run,
  $started_at AS valid_from,
  CASE state WHEN 'first_seen' THEN '["first_seen"]' ELSE '["item_returned"]' END::JSON AS cause,
  digest AS values_digest
FROM history_items
WHERE state IN ('first_seen', 'returned')
