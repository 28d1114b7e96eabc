-- The definitions of one history in two runs, a row each. The marks stand for the history, its key, and the other columns.
--
-- $1  sequence number of the earlier run
-- $2  that of the later one
--
-- was, is_now  the definition in the earlier and in the later run; NULL if absent
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
