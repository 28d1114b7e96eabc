-- The raw documents that count, with the request that each was the answer to. `raw_files` and `request_files` stand for
-- their files; $1: items whose documents do not count, as a JSON list.
--
-- A request for a page, or for a part of it, answers from its first position on, up to that of a later request for the
-- same page: a page is read in parts, and anew with its pass. Earlier versions did not note the position.
WITH counting AS (
  SELECT *
  FROM raw_files
  WHERE content_id NOT IN (SELECT unnest(from_json($1, '["VARCHAR"]')))
  QUALIFY observation >= coalesce(max(observation) FILTER (whole) OVER (PARTITION BY content_id, shape), 0)
),
answered AS (
  SELECT
    mode,
    pass,
    page,
    coalesce(content_id, '') AS asked,
    request,
    coalesce(position, 0) AS first,
    min(coalesce(position, 0)) OVER (
      PARTITION BY mode, pass, page, content_id
      ORDER BY request
      ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
    ) AS next
  FROM request_files
  WHERE status = 200
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
  AND answered.page = counting.page
  AND answered.asked = CASE counting.mode WHEN 'item' THEN counting.content_id ELSE '' END
  AND answered.first <= counting.position
  AND (answered.next IS NULL OR answered.next > counting.position)
