-- Whether each destination receives values, and if not, why.
--
-- $1  IDs that `ignoreDestinations` names, a JSON array
--
-- ignored      named by the setting
-- nameless     known only by the ID that mappings have: it was removed, or not configured
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
