-- Changes of mapped values in the runs of report_runs, by cause: a version that began, a value that ended without
-- another in its place, or a field whose values were put in another order. Where several causes hold, the first counts.
-- A run with which the history begins is compared with nothing. Texts of other steps stand in place of the marks.
WITH compared AS (
  SELECT
    run,
    sequence,
    (SELECT max(before.sequence) FROM run_history AS before WHERE before.sequence < runs.sequence) AS sequence_before
  FROM report_runs AS runs
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
-- Where the list is another, or a text that the item gives means another value.
asked_orders AS (
  SELECT
    run AS pair,
    touched.* EXCLUDE (run),
    compared.sequence_before,
    compared.sequence AS sequence_after
  FROM (
    SELECT valid_from_run AS run, content_id, destination_id, custom_field_id
    FROM mapped_value_order_history
    WHERE valid_from_run IN (SELECT run FROM compared)
    UNION
    SELECT valid_from_run AS run, content_id, destination_id, custom_field_id
    FROM mapped_value_history
    WHERE matched_text IS NOT NULL AND valid_from_run IN (SELECT run FROM compared)
    UNION
    SELECT valid_to_run AS run, content_id, destination_id, custom_field_id
    FROM mapped_value_history
    WHERE matched_text IS NOT NULL AND valid_to_run IN (SELECT run FROM compared)
  ) AS touched
  JOIN compared USING (run)
),
ordered_values AS (
  /* ordered_values */
),
reordered_values AS (
  /* reordered_values */
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
  SELECT pair AS run, 'reordered' AS cause, content_id
  FROM (SELECT DISTINCT pair, content_id, destination_id, custom_field_id FROM reordered_values)
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
