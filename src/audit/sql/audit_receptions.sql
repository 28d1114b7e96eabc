-- Whether each destination receives values, and if not, why.
--
-- ignored      `ignoreDestinations` names it
-- unsupported  the service says that it supports no mappings
SELECT
  destination_id,
  identification AS destination,
  CASE
    WHEN receives THEN 'receiving'
    WHEN supports_custom_field_mappings IS DISTINCT FROM false THEN 'ignored'
    ELSE 'unsupported'
  END AS reception
FROM destinations
