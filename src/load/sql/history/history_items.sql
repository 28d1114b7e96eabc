-- What happened to each item of a range: the temporary table history_items, with a row for each item of this run or
-- of the history.
--
-- $list_is_whole  whether an item that this run does not have is removed
--
-- state   first_seen  new
--         returned    was removed, and is back
--         same        has the same mapped values
--         changed     its mapped values or their inputs may differ
--         removed     removed in this run
--         unseen      this run does not have it, and cannot tell why
--         gone        removed by an earlier run
-- epoch   epoch of the definitions that the item was last mapped with; NULL if no definition changed since
-- weight  rows of the item in the history, and in the mapped_values if they are compared; ranges are cut by it
WITH answers AS (
  SELECT
    content_id,
    count(*) AS weight,
    sum(hash(destination_id, custom_field_id, ordinal, /* value_columns */)) AS digest
  FROM content_mapped_values
  WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
  GROUP BY content_id
),
given AS (
  SELECT content_id, sum(hash(custom_field_id, ordinal, mapping_input)) AS digest
  FROM content_custom_field_values
  WHERE mapping_input IS NOT NULL
    AND content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
  GROUP BY content_id
),
present_now AS (
  SELECT
    content_id,
    coalesce(answers.weight, 0) AS weight,
    concat_ws(':', coalesce(answers.digest, 0), coalesce(given.digest, 0)) AS digest
  FROM content
  LEFT JOIN answers USING (content_id)
  LEFT JOIN given USING (content_id)
  WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
),
before AS (
  SELECT previous_content_history.*
  FROM previous_content_history
  JOIN run_history ON run = valid_from_run
  WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
  QUALIFY row_number() OVER (PARTITION BY content_id ORDER BY sequence DESC) = 1
),
weights_before AS (
  SELECT content_id, count(*) AS weight
  FROM previous_mapped_value_history
  WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
  GROUP BY content_id
)
SELECT
  content_id,
  CASE
    WHEN present_now.content_id IS NOT NULL AND before.content_id IS NULL THEN 'first_seen'
    WHEN present_now.content_id IS NOT NULL AND before.valid_to_run IS NOT NULL THEN 'returned'
    WHEN present_now.content_id IS NOT NULL AND before.values_digest = present_now.digest THEN 'same'
    WHEN present_now.content_id IS NOT NULL THEN 'changed'
    WHEN before.valid_to_run IS NOT NULL THEN 'gone'
    WHEN content_id IN (SELECT content_id FROM history_removed) THEN 'removed'
    WHEN $list_is_whole AND content_id NOT IN (SELECT content_id FROM history_unread) THEN 'removed'
    ELSE 'unseen'
  END AS state,
  present_now.digest,
  before.values_digest AS digest_before,
  before.valid_to_run AS removed_in_run,
  epochs.epoch,
  coalesce(weights_before.weight, 0)
  + CASE
    WHEN before.valid_to_run IS NULL AND before.values_digest = present_now.digest THEN 0
    ELSE coalesce(present_now.weight, 0)
  END AS weight
FROM present_now
FULL JOIN before USING (content_id)
LEFT JOIN weights_before USING (content_id)
LEFT JOIN history_epochs AS epochs ON epochs.run = before.last_seen_run
