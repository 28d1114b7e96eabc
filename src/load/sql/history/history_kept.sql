-- Items with values that an unsettled run could not see: the temporary table history_kept.
SELECT DISTINCT content_id
FROM history_pairs
WHERE event = 'kept'
