-- Changes of mapped values in the runs of report_runs, by cause: a version that began, a value that ended without
-- another in its place, or a field whose values were put in another order. Where several causes hold, the first counts.
-- A run with which the history begins is compared with nothing. The text of mapped_value_versions stands in place of the
-- mark.
WITH compared AS (
  SELECT run
  FROM report_runs
  WHERE previous_run IS NOT NULL
),
versions AS (
  /* versions */
),
places AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    value_number,
    copy,
    valid_from_run,
    valid_to_run,
    cause,
    valid_to_cause
  FROM versions
  WHERE valid_from_run IN (SELECT run FROM compared)
    OR valid_to_run IN (SELECT run FROM compared)
),
changes AS (
  SELECT valid_from_run AS run, cause[1] AS cause, content_id
  FROM places
  UNION ALL
  SELECT ended.valid_to_run AS run, ended.valid_to_cause[1] AS cause, ended.content_id
  FROM places AS ended
  ANTI JOIN places AS began
    ON began.content_id = ended.content_id
    AND began.destination_id = ended.destination_id
    AND began.custom_field_id = ended.custom_field_id
    AND began.value_number = ended.value_number
    AND began.copy = ended.copy
    AND began.valid_from_run = ended.valid_to_run
  WHERE ended.valid_to_run IS NOT NULL
  UNION ALL
  SELECT valid_from_run AS run, 'reordered' AS cause, content_id
  FROM mapped_value_order_history
  WHERE list_contains(CAST(cause AS VARCHAR[]), 'reordered')
),
of_item AS (
  SELECT run, cause, content_id, count(*) AS values
  FROM changes
  GROUP BY run, cause, content_id
)
SELECT compared.run, of_item.cause, count(*)::BIGINT AS items, sum(of_item.values)::BIGINT AS values
FROM of_item
JOIN compared USING (run)
GROUP BY compared.run, of_item.cause
ORDER BY compared.run, of_item.cause
