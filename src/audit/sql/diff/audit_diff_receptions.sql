-- Destinations that began or ceased to receive values, as diff_filter says, each with the items that it now receives
-- values of, or did.
--
-- $1  sequence number of the earlier run
-- $2  that of the later one
SELECT
  coalesce(destinations.name, destination_id) AS destination,
  CASE WHEN destinations.receives THEN 'began' ELSE 'ceased' END AS reception,
  count(DISTINCT content_id) AS items
FROM diff_destinations AS destinations
CROSS JOIN diff_filter
JOIN mapped_value_history AS history USING (destination_id)
JOIN run_history AS since ON since.run = history.valid_from_run
LEFT JOIN run_history AS until ON until.run = history.valid_to_run
WHERE destinations.received <> destinations.receives
  AND history.external_value IS NOT NULL
  AND since.sequence <= CASE WHEN destinations.receives THEN $2::BIGINT ELSE $1::BIGINT END
  AND (until.sequence IS NULL OR until.sequence > CASE WHEN destinations.receives THEN $2::BIGINT ELSE $1::BIGINT END)
  AND (diff_filter.cause IS NULL OR diff_filter.cause = 'destination_changed')
  AND (diff_filter.destination_ids IS NULL OR list_contains(diff_filter.destination_ids, destination_id))
  AND (diff_filter.field_ids IS NULL OR list_contains(diff_filter.field_ids, custom_field_id))
  AND (diff_filter.item IS NULL OR content_id = diff_filter.item)
GROUP BY ALL
ORDER BY destination
