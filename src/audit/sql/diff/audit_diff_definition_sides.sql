-- What the definitions of one history were in two runs: a row for each that it knows. What names a definition, what it
-- says, and the history stand in place of the marks.
--
-- $1  sequence number of the earlier run
-- $2  that of the later one
--
-- was, is_now  what the earlier run had, and the later one; NULL where it had none
SELECT
  /* key */,
  any_value(definition) FILTER (is_before) AS was,
  any_value(definition) FILTER (is_after) AS is_now
FROM (
  SELECT
    /* key */,
    struct_pack(/* definition */) AS definition,
    since.sequence <= $1::BIGINT AND (until.sequence IS NULL OR until.sequence > $1::BIGINT) AS is_before,
    since.sequence <= $2::BIGINT AND (until.sequence IS NULL OR until.sequence > $2::BIGINT) AS is_after
  FROM /* history */ AS history
  JOIN run_history AS since ON since.run = history.valid_from_run
  LEFT JOIN run_history AS until ON until.run = history.valid_to_run
)
GROUP BY /* key */
