-- The changes of diff_shown, counted. What they are counted by stands in place of the marks: causes first, as text.
WITH of_item AS (
  SELECT
    /* by */,
    content_id,
    count(*) AS "values",
    count_if(change = 'gained') AS gained,
    count_if(change = 'lost') AS lost,
    count_if(change = 'changed') AS changed,
    count_if(change = 'reordered') AS reordered,
    count_if(change = 'alike') AS alike
  FROM (SELECT * REPLACE (array_to_string(causes, ' ') AS causes) FROM diff_shown)
  GROUP BY ALL
)
SELECT
  /* by */,
  count(*)::BIGINT AS items,
  sum("values")::BIGINT AS "values",
  sum(gained)::BIGINT AS gained,
  sum(lost)::BIGINT AS lost,
  sum(changed)::BIGINT AS changed,
  sum(reordered)::BIGINT AS reordered,
  sum(alike)::BIGINT AS alike
FROM of_item
GROUP BY /* by */
