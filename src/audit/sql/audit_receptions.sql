-- Whether each destination receives values, and if not, why: its values without an external value count apart then.
--
-- $1  IDs that `ignoreDestinations` names, a JSON array
--
-- ignored      acknowledged by the setting
-- unsupported  the service says that it supports no mappings
-- nameless     known by its ID alone, which mappings name: it is gone, or was not configured
--
-- Where no destination has a name, nobody was asked for one, and their IDs say nothing: they all count.
SELECT
  destination_id,
  identification AS destination,
  CASE
    WHEN list_contains(from_json($1::JSON, '["VARCHAR"]'), destination_id) THEN 'ignored'
    WHEN NOT supports_custom_field_mappings THEN 'unsupported'
    WHEN identification IS NULL AND platform IS NULL AND count(identification) OVER () > 0 THEN 'nameless'
    ELSE 'receiving'
  END AS reception
FROM destinations
