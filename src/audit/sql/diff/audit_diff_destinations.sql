-- Names of the destinations that the history knows: what the later of two runs called each, else the earlier one, else the
-- last name that it had. identification_before: what the earlier run called it.
--
-- $1  sequence number of the earlier run
-- $2  that of the later one
WITH versions AS (
  SELECT
    destination_id, identification,
    since.sequence,
    since.sequence <= $1::BIGINT AND (until.sequence IS NULL OR until.sequence > $1::BIGINT) AS is_before,
    since.sequence <= $2::BIGINT AND (until.sequence IS NULL OR until.sequence > $2::BIGINT) AS is_after
  FROM destination_history AS history
  JOIN run_history AS since ON since.run = history.valid_from_run
  LEFT JOIN run_history AS until ON until.run = history.valid_to_run
)
SELECT
  destination_id,
  coalesce(
    any_value(identification) FILTER (is_after),
    any_value(identification) FILTER (is_before),
    max_by(identification, sequence) FILTER (identification IS NOT NULL)
  ) AS identification,
  any_value(identification) FILTER (is_before) AS identification_before
FROM versions
GROUP BY destination_id
