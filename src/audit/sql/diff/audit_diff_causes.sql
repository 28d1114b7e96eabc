-- The changes of diff_shown by cause, at destinations that receive values in both runs; the causes that touch most values
-- come first.
SELECT
  array_to_string(causes, ' ') AS causes,
  count(DISTINCT content_id) AS items,
  count(*) AS "values",
  count_if(change = 'lost') AS lost,
  count_if(change = 'gained') AS gained,
  count_if(change = 'added') AS added,
  count_if(change = 'taken_away') AS taken_away,
  count_if(change = 'changed') AS changed,
  count_if(change = 'reordered') AS reordered,
  count_if(change = 'alike') AS alike
FROM diff_shown
WHERE reception = 'receiving'
GROUP BY ALL
ORDER BY "values" DESC, items DESC, causes
