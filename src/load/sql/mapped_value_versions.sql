-- Versions of mapped values with their copies: the rows of mapped_value_history are first copies. If a value occurs
-- at several positions, each further copy has rows of its own, from the history of the orders. A copy begins with a
-- version of its value, or later when the item got it; it ends with the version, or sooner. Both are changes of the
-- item.
--
-- Examples: an item gives [a] in run 1, [a, a] from run 2, and [a] again from run 4; run 3 maps a otherwise.
--
-- copy                   from 1
-- cause, valid_to_cause  as lists
-- e.g. the field
WITH repeating AS (
  SELECT DISTINCT content_id, destination_id, custom_field_id
  FROM mapped_value_order_history
  WHERE list_count(CAST(value_numbers AS INTEGER[])) > list_unique(CAST(value_numbers AS INTEGER[]))
),
-- e.g. [1, 1] from 2 to 4, turn 1; [1] from 4, turn 2
orders AS (
  SELECT
    history.content_id,
    history.destination_id,
    history.custom_field_id,
    CAST(history.value_numbers AS INTEGER[]) AS numbers,
    CAST(history.cause AS VARCHAR[]) AS cause,
    CAST(history.valid_to_cause AS VARCHAR[]) AS valid_to_cause,
    first.sequence AS from_sequence,
    after.sequence AS to_sequence,
    row_number() OVER (
      PARTITION BY history.content_id, history.destination_id, history.custom_field_id ORDER BY first.sequence
    ) AS turn
  FROM mapped_value_order_history AS history
  SEMI JOIN repeating USING (content_id, destination_id, custom_field_id)
  JOIN run_history AS first ON first.run = history.valid_from_run
  LEFT JOIN run_history AS after ON after.run = history.valid_to_run
),
-- e.g. of turn 1: value 1 at place 1, and at place 2
places AS (
  SELECT
    * EXCLUDE (numbers),
    unnest(numbers) AS value_number,
    generate_subscripts(numbers, 1) AS place
  FROM orders
),
-- e.g. of turn 1: value 1, copy 2, from 2 to 4
further AS (
  SELECT
    * EXCLUDE (place),
    row_number() OVER (
      PARTITION BY content_id, destination_id, custom_field_id, turn, value_number ORDER BY place
    ) AS copy
  FROM places
  WHERE value_number IS NOT NULL
  QUALIFY copy > 1
),
-- e.g. the same; no turn before
followed AS (
  SELECT
    *,
    lag(turn) OVER same_copy AS turn_before,
    lag(to_sequence) OVER same_copy AS to_sequence_before
  FROM further
  WINDOW same_copy AS (PARTITION BY content_id, destination_id, custom_field_id, value_number, copy ORDER BY turn)
),
-- e.g. the same; stretch 1
joined AS (
  SELECT
    *,
    count_if(to_sequence_before IS DISTINCT FROM from_sequence) OVER (
      PARTITION BY content_id, destination_id, custom_field_id, value_number, copy ORDER BY turn
    ) AS stretch
  FROM followed
),
-- Spans in which the item had the copy, at any position.
-- came_back: the item had it when it was last seen
-- e.g. copy 2 from 2 to 4, item_changed both times
stretches AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    value_number,
    copy,
    min(from_sequence) AS from_sequence,
    CASE WHEN count(*) = count(to_sequence) THEN max(to_sequence) END AS to_sequence,
    arg_min(cause, turn) AS cause,
    arg_max(valid_to_cause, turn) AS valid_to_cause,
    coalesce(min(turn) = min(turn_before) + 1, false) AS came_back
  FROM joined
  GROUP BY content_id, destination_id, custom_field_id, value_number, copy, stretch
),
-- was_there: the item had the value, in any version, when it was last seen; has_next: a version follows immediately
-- e.g. value 1 from 1 to 3, first_seen to mapping_changed, has_next; from 3, mapping_changed, was_there
versions AS (
  SELECT
    history.* REPLACE (
      CAST(history.cause AS VARCHAR[]) AS cause,
      CAST(history.valid_to_cause AS VARCHAR[]) AS valid_to_cause
    ),
    first.sequence AS from_sequence,
    after.sequence AS to_sequence,
    coalesce(
      lag(after.sequence) OVER same_value = first.sequence
      OR (
        list_contains(CAST(history.cause AS VARCHAR[]), 'item_returned')
        AND list_contains(CAST(lag(history.valid_to_cause) OVER same_value AS VARCHAR[]), 'item_removed')
      ),
      false
    ) AS was_there,
    coalesce(lead(first.sequence) OVER same_value = after.sequence, false) AS has_next
  FROM mapped_value_history AS history
  SEMI JOIN stretches USING (content_id, destination_id, custom_field_id, value_number)
  JOIN run_history AS first ON first.run = history.valid_from_run
  LEFT JOIN run_history AS after ON after.run = history.valid_to_run
  WINDOW same_value AS (
    PARTITION BY history.content_id, history.destination_id, history.custom_field_id, history.value_number
    ORDER BY first.sequence
  )
),
-- e.g. copy 2 from 2 to 3, item_changed to mapping_changed; from 3 to 4, mapping_changed to item_changed
bounded AS (
  SELECT
    versions.* EXCLUDE (from_sequence, to_sequence, was_there, has_next, cause, valid_to_cause),
    stretches.copy,
    greatest(versions.from_sequence, stretches.from_sequence) AS from_sequence,
    -- least() ignores NULL.
    least(versions.to_sequence, stretches.to_sequence) AS to_sequence,
    CASE WHEN versions.from_sequence >= stretches.from_sequence THEN versions.cause ELSE [] END
    || CASE
      WHEN stretches.from_sequence < versions.from_sequence OR stretches.came_back THEN []
      WHEN stretches.from_sequence = versions.from_sequence AND NOT versions.was_there THEN []
      WHEN list_has_any(stretches.cause, ['item_changed', 'item_returned']) THEN ['item_changed']
      ELSE stretches.cause
    END AS cause,
    CASE
      WHEN stretches.to_sequence IS NULL OR versions.to_sequence <= stretches.to_sequence THEN versions.valid_to_cause
      ELSE []
    END
    || CASE
      WHEN stretches.to_sequence IS NULL OR stretches.to_sequence > versions.to_sequence THEN []
      WHEN stretches.to_sequence = versions.to_sequence AND NOT versions.has_next THEN []
      WHEN list_contains(stretches.valid_to_cause, 'item_changed') THEN ['item_changed']
      ELSE stretches.valid_to_cause
    END AS valid_to_cause
  FROM versions
  JOIN stretches USING (content_id, destination_id, custom_field_id, value_number)
  WHERE (stretches.to_sequence IS NULL OR stretches.to_sequence > versions.from_sequence)
    AND (versions.to_sequence IS NULL OR versions.to_sequence > stretches.from_sequence)
)
SELECT
  * REPLACE (
    CAST(cause AS VARCHAR[]) AS cause,
    CAST(valid_to_cause AS VARCHAR[]) AS valid_to_cause
  ),
  1 AS copy
FROM mapped_value_history
UNION ALL BY NAME
SELECT
  bounded.* EXCLUDE (from_sequence, to_sequence) REPLACE (
    first.run AS valid_from_run,
    first.started_at AS valid_from,
    after.run AS valid_to_run,
    after.started_at AS valid_to,
    list_filter([/* causes */], lambda word: list_contains(cause, word)) AS cause,
    CASE
      WHEN after.run IS NOT NULL THEN list_filter([/* causes */], lambda word: list_contains(valid_to_cause, word))
    END AS valid_to_cause
  )
FROM bounded
JOIN run_history AS first ON first.sequence = bounded.from_sequence
LEFT JOIN run_history AS after ON after.sequence = bounded.to_sequence
