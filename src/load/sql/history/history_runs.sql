-- Runs of the history and this run: the temporary table history_runs. $1 is this run, $2 its sequence number.
SELECT run, sequence
FROM previous_run_history
UNION ALL
SELECT CAST($1 AS VARCHAR) AS run, CAST($2 AS INTEGER) AS sequence
