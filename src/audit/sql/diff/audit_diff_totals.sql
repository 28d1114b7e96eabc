-- How many values and items of diff_shown changed, and how many payloads of how many items differ.
SELECT
  (SELECT count(DISTINCT content_id) FROM diff_shown) AS items,
  (SELECT count(*) FROM diff_shown) AS "values",
  count(*) AS payloads,
  count(DISTINCT content_id) AS payload_items
FROM diff_payloads
SEMI JOIN diff_shown USING (content_id, destination_id)
