-- Names of the destinations that the run or its history knows, also of those that are gone.
SELECT destination_id, identification
FROM destinations
UNION ALL
SELECT destination_id, max_by(identification, valid_from_run) AS identification
FROM destination_history
WHERE destination_id NOT IN (SELECT destination_id FROM destinations)
GROUP BY destination_id
