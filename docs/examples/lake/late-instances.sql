-- Which instances are late? Those whose last run began more than a day before the last run of all of them.
SELECT
  run.instance AS instance,
  run.run AS last_run,
  run.verdict AS verdict,
  run.started_at AS started_at,
  CASE WHEN run.started_at < newest.started_at - INTERVAL '26' HOUR THEN 'late' ELSE 'on time' END AS state
FROM run
CROSS JOIN (SELECT max(started_at) AS started_at FROM run) AS newest
ORDER BY started_at, instance
