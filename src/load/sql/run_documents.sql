-- Raw documents that count, with the request of each, and with the digests that they had when answered. The marks are
-- the files of both. $1 is a JSON list of items whose documents do not count.
--
-- A page may be read in parts, and once per pass: the request of a document is the last one for its page that begins
-- at or before its position. The join compares only equal columns; other conditions take twice the CPU.
WITH counting AS (
  SELECT
    content_id, shape, mode, pass, page, position, observation, observed_at,
    coalesce(nullif(answer_sha256, ''), sha256) AS sha256,
    nullif(read_by_run, '') AS read_by_run,
    CASE
      WHEN read_by_run <> '' THEN NULL
      WHEN mode = 'item' THEN content_id
      ELSE ''
    END AS asked
  FROM /* raw_files */
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
  FROM /* request_files */
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
