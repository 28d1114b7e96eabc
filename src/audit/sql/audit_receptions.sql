-- Whether each destination receives values, and if not, why: its values without an external value count apart then.
--
-- $1  IDs that `ignoreDestinations` names, a JSON array
--
-- ignored      acknowledged by the setting
-- nameless     known by its ID alone, which mappings name: it is gone, or was not configured
-- unsupported  the service does not say that it supports mappings
SELECT
  destination_id,
  identification AS destination,
  CASE
    WHEN list_contains(from_json($1::JSON, '["VARCHAR"]'), destination_id) THEN 'ignored'
    WHEN receives THEN 'receiving'
    WHEN identification IS NULL AND platform IS NULL THEN 'nameless'
    ELSE 'unsupported'
  END AS reception
FROM destinations
