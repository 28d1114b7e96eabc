-- Raw documents that count, with the request of each. `raw_files` and `request_files` stand for their files. $1 is a
-- JSON list of items whose documents do not count.
--
-- A page may be read in parts, and once per pass: the request of a document is the last one for its page that begins
-- at or before its position. The join compares only equal columns; other conditions take twice the CPU.
WITH counting AS (
  SELECT
    *,
    CASE
      WHEN read_by_run IS NOT NULL THEN NULL
      WHEN mode = 'item' THEN content_id
      ELSE ''
    END AS asked
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
    list({first: coalesce(position, 0), request: request} ORDER BY request) AS requests
  FROM request_files
  WHERE status = 200
  GROUP BY ALL
)
SELECT
  content_id,
  shape,
  observation,
  list_last(list_filter(requests, lambda each: each.first <= position)).request AS request,
  observed_at,
  sha256,
  read_by_run
FROM counting
LEFT JOIN answered USING (mode, pass, page, asked)
