-- Names of the destinations, or of the custom fields, that the history knows: what the later of two runs called each, else
-- the earlier one, else the last name that it had. The marks stand for the history, the columns of ID and name, and whether
-- a version of a destination receives values.
--
-- name_before         name in the earlier run
-- received, receives  whether the destination received values in the earlier run, and in the later one
--
-- $1  sequence number of the earlier run
-- $2  that of the later one
WITH versions AS (
  SELECT
    /* id */,
    /* name */ AS name,
    /* receives */ AS receives,
    since.sequence,
    since.sequence <= $1::BIGINT AND (until.sequence IS NULL OR until.sequence > $1::BIGINT) AS is_before,
    since.sequence <= $2::BIGINT AND (until.sequence IS NULL OR until.sequence > $2::BIGINT) AS is_after
  FROM /* history */ AS history
  JOIN run_history AS since ON since.run = history.valid_from_run
  LEFT JOIN run_history AS until ON until.run = history.valid_to_run
)
SELECT
  /* id */,
  coalesce(
    any_value(name) FILTER (is_after),
    any_value(name) FILTER (is_before),
    max_by(name, sequence) FILTER (name IS NOT NULL)
  ) AS name,
  any_value(name) FILTER (is_before) AS name_before,
  coalesce(any_value(receives) FILTER (is_before), false) AS received,
  coalesce(any_value(receives) FILTER (is_after), false) AS receives
FROM versions
GROUP BY /* id */
