-- Names of the destinations of two runs, those of the later one first.
SELECT destination_id, identification
FROM destinations
UNION ALL
SELECT destination_id, identification
FROM before_destinations
ANTI JOIN destinations USING (destination_id)
