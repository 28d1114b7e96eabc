-- The last runs that the history knows, the newest last.
--
-- $1  runs at most
SELECT run, sequence, started_at, verdict, previous_run
FROM run_history
QUALIFY row_number() OVER (ORDER BY sequence DESC) <= $1::BIGINT
ORDER BY sequence
