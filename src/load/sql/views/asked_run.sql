-- The run that the parameter `instant` of a macro means. The mark is the text of run_as_of.
SELECT
  coalesce(
    (/* run_as_of */),
    error(
      concat(
        'No run had started by ', asked.at, '; the first one started at ', (SELECT min(started_at) FROM run_history),
        '. Ask for a later time.'
      )
    )
  ) AS sequence
FROM (SELECT instant AS at) AS asked
