-- Mapped values of each destination by run, from the history: those that are sent, and those that are missing.
--
-- $1  number of latest runs; destinations are left out of runs in which they received no values
WITH versions AS NOT MATERIALIZED (
  SELECT destination_id, valid_from_run, valid_to_run, /* value_kind */ AS kind
  FROM mapped_value_history
),
changes AS (
  SELECT destination_id, run, sum(mapped) AS mapped, sum(missing) AS missing
  FROM (
    SELECT
      destination_id,
      valid_from_run AS run,
      count_if(kind = 'mapped') AS mapped,
      count_if(kind IN (/* without_external_value */)) AS missing
    FROM versions
    GROUP BY ALL
    UNION ALL
    SELECT
      destination_id,
      valid_to_run AS run,
      -count_if(kind = 'mapped') AS mapped,
      -count_if(kind IN (/* without_external_value */)) AS missing
    FROM versions
    WHERE valid_to_run IS NOT NULL
    GROUP BY ALL
  )
  GROUP BY ALL
),
summed AS (
  SELECT
    destination_id,
    run_history.sequence,
    coalesce(sum(changes.mapped) OVER so_far, 0)::BIGINT AS mapped,
    coalesce(sum(changes.missing) OVER so_far, 0)::BIGINT AS missing
  FROM run_history
  CROSS JOIN (SELECT DISTINCT destination_id FROM changes)
  LEFT JOIN changes USING (destination_id, run)
  WINDOW so_far AS (PARTITION BY destination_id ORDER BY run_history.sequence)
),
received AS (
  SELECT destination_id, since.sequence AS first_sequence, until.sequence AS end_sequence
  FROM destination_history AS history
  JOIN run_history AS since ON since.run = history.valid_from_run
  LEFT JOIN run_history AS until ON until.run = history.valid_to_run
  WHERE history.receives
)
SELECT summed.*
FROM summed
JOIN received
  ON received.destination_id = summed.destination_id
  AND received.first_sequence <= summed.sequence
  AND (received.end_sequence IS NULL OR received.end_sequence > summed.sequence)
WHERE summed.sequence IN (SELECT sequence FROM run_history ORDER BY sequence DESC LIMIT $1::BIGINT)
ORDER BY destination_id, summed.sequence
