-- Destinations of diff_shown that began or ceased to receive values, each with the items that it now receives values of,
-- or did.
SELECT
  coalesce(destinations.name, destination_id) AS destination,
  changes.reception,
  count(DISTINCT content_id) FILTER (
    CASE changes.reception WHEN 'began' THEN external_value_after ELSE external_value_before END IS NOT NULL
  ) AS items
FROM diff_shown AS changes
JOIN diff_destinations AS destinations USING (destination_id)
WHERE changes.reception IN ('began', 'ceased')
GROUP BY ALL
ORDER BY destination
