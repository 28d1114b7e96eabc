-- The changes of diff_shown by cause, at destinations that receive values in both runs; the causes that touch most values
-- come first.
SELECT
  array_to_string(causes, ' ') AS causes,
  count(DISTINCT content_id) AS items,
  count_if(change = 'lost') AS lost
FROM diff_shown
WHERE reception = 'receiving'
GROUP BY ALL
ORDER BY count(*) DESC, items DESC, causes
