-- The raw documents that count, with the request that each was the answer to. `raw_files` and `request_files` stand for
-- their files; $1: items whose documents do not count, as a JSON list. Files of an earlier version lack the last two
-- columns.
WITH counting AS (
  SELECT content_id, shape, mode, pass, page, observation, observed_at, sha256, answer_sha256, read_by_run
  FROM (
    FROM raw_files
    UNION ALL BY NAME
    SELECT '' AS answer_sha256, '' AS read_by_run WHERE false
  )
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
  coalesce(nullif(counting.answer_sha256, ''), counting.sha256) AS sha256,
  nullif(counting.read_by_run, '') AS read_by_run
FROM counting
LEFT JOIN answered
  ON nullif(counting.read_by_run, '') IS NULL
  AND answered.mode = counting.mode
  AND answered.pass = counting.pass
  AND answered.asked = CASE counting.mode WHEN 'item' THEN counting.content_id ELSE CAST(counting.page AS VARCHAR) END
