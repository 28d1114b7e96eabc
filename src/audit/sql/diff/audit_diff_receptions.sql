-- Destinations that began or ceased to receive values, each with the items that it now receives values of, or did. The mark
-- stands for a condition.
--
-- $1  sequence number of the earlier run
-- $2  that of the later one
SELECT
  coalesce(destinations.name, destination_id) AS destination,
  CASE WHEN destinations.receives THEN 'began' ELSE 'ceased' END AS reception,
  count(DISTINCT content_id) AS items
FROM diff_destinations AS destinations
JOIN mapped_value_history AS history USING (destination_id)
JOIN run_history AS since ON since.run = history.valid_from_run
LEFT JOIN run_history AS until ON until.run = history.valid_to_run
WHERE destinations.received <> destinations.receives
  AND history.external_value IS NOT NULL
  AND since.sequence <= CASE WHEN destinations.receives THEN $2::BIGINT ELSE $1::BIGINT END
  AND (until.sequence IS NULL OR until.sequence > CASE WHEN destinations.receives THEN $2::BIGINT ELSE $1::BIGINT END)
  AND /* scope */
GROUP BY ALL
ORDER BY destination
