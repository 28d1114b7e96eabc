-- The last run that had started by asked.at: the one with the highest number, even if a clock went back. A date, also as
-- text, is its end in UTC.
SELECT max(run_history.sequence)
FROM run_history
WHERE run_history.started_at
  <= coalesce(TRY_CAST(CAST(asked.at AS VARCHAR) || 'T23:59:59.999999Z' AS TIMESTAMPTZ), CAST(asked.at AS TIMESTAMPTZ))
