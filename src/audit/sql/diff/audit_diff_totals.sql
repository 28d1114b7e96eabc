-- How many values and items of diff_shown changed, how many values lost or gained their external value, and how many
-- payloads of how many items differ, at destinations that receive values in both runs.
--
-- other_items  items with changed values at destinations that receive none in either run
WITH counted AS (
  SELECT content_id, destination_id, change
  FROM diff_shown
  WHERE reception = 'receiving'
)
SELECT
  (SELECT count(DISTINCT content_id) FROM counted) AS items,
  (SELECT count(*) FROM counted) AS "values",
  (SELECT count(*) FILTER (change = 'lost') FROM counted) AS lost,
  (SELECT count(*) FILTER (change = 'gained') FROM counted) AS gained,
  count(*) AS payloads,
  count(DISTINCT content_id) AS payload_items,
  (SELECT count(DISTINCT content_id) FROM diff_shown WHERE reception = 'none') AS other_items
FROM diff_payloads
SEMI JOIN counted USING (content_id, destination_id)
