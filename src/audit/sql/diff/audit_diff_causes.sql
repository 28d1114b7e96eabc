-- The changes of diff_shown by cause, what touches most values first.
WITH of_item AS (
  SELECT
    causes,
    content_id,
    count(*) AS "values",
    count_if(change = 'gained') AS gained,
    count_if(change = 'lost') AS lost,
    count_if(change = 'changed') AS changed,
    count_if(change = 'reordered') AS reordered,
    count_if(change = 'alike') AS alike
  FROM diff_shown
  GROUP BY ALL
)
SELECT
  array_to_string(of_item.causes, ' ') AS causes,
  count(*)::BIGINT AS items,
  sum(of_item."values")::BIGINT AS "values",
  sum(of_item.gained)::BIGINT AS gained,
  sum(of_item.lost)::BIGINT AS lost,
  sum(of_item.changed)::BIGINT AS changed,
  sum(of_item.reordered)::BIGINT AS reordered,
  sum(of_item.alike)::BIGINT AS alike
FROM of_item
GROUP BY of_item.causes
ORDER BY "values" DESC, items DESC, causes NULLS LAST
