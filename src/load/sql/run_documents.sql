-- The raw documents that count, with the request that each was the answer to. `raw_files` and `request_files` stand for
-- their files; $1: items whose documents do not count, as a JSON list.
WITH counting AS (
  SELECT *
  FROM raw_files
  WHERE content_id NOT IN (SELECT unnest(from_json($1, '["VARCHAR"]')))
  QUALIFY observation >= coalesce(max(observation) FILTER (whole) OVER (PARTITION BY content_id, shape), 0)
),
answered AS (
  SELECT mode, pass, coalesce(content_id, CAST(page AS VARCHAR)) AS asked, max(request) AS request
  FROM request_files
  WHERE status = 200
  GROUP BY ALL
)
SELECT
  counting.content_id,
  counting.shape,
  counting.observation,
  answered.request,
  counting.observed_at,
  counting.sha256,
  counting.read_by_run
FROM counting
LEFT JOIN answered
  ON counting.read_by_run IS NULL
  AND answered.mode = counting.mode
  AND answered.pass = counting.pass
  AND answered.asked = CASE counting.mode WHEN 'item' THEN counting.content_id ELSE CAST(counting.page AS VARCHAR) END
