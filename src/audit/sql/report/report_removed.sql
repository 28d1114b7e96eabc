-- How many items changed since the run before that the run no longer has, and of how many a payload differs, by what the
-- comparison of both runs kept.
WITH removed AS (
  SELECT content_id, bool_or(payloads.content_id IS NOT NULL) AS differs
  FROM diff_shown
  ANTI JOIN content USING (content_id)
  LEFT JOIN diff_payloads AS payloads USING (content_id, destination_id)
  GROUP BY content_id
)
SELECT count(*) AS changed, count(*) FILTER (WHERE differs) AS payload
FROM removed
