-- Names of the destinations of two runs: what the later one called each, else the earlier one. identification_before: what the
-- earlier run called it.
SELECT
  destination_id,
  coalesce(later.identification, earlier.identification) AS identification,
  earlier.identification AS identification_before
FROM destinations AS later
FULL JOIN before_destinations AS earlier USING (destination_id)
