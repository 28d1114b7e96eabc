-- Rows of run_history: those of the run before, and this run.
FROM previous_run_history
UNION ALL BY NAME
SELECT
  $run AS run,
  $sequence AS sequence,
  $started_at AS started_at,
  $extracted_at AS extracted_at,
  $pipeline AS pipeline,
  $verdict AS verdict,
  $previous_run AS previous_run,
  $passthrough AS passthrough,
  $package_version AS package_version,
  $history_version AS history_version
