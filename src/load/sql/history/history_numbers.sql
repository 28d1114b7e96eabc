-- Numbers of values in history_pairs that begin: the temporary table history_numbers. A value keeps its number; a new
-- value gets the first free number, in the order of the item's list.
WITH opened AS (
  SELECT
    rowid AS pair,
    content_id,
    destination_id,
    custom_field_id,
    row_number() OVER (
      PARTITION BY content_id, destination_id, custom_field_id
      ORDER BY ordinals, input, variant
    ) AS place
  FROM history_pairs
  WHERE event = 'opened'
),
free AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    coalesce(list(value_number) FILTER (event IN ('same', 'changed', 'kept', 'returned')), []) AS taken,
    list_filter(range(1, count(*) + 1), lambda number: NOT list_contains(taken, number)) AS numbers
  FROM history_pairs
  SEMI JOIN opened USING (content_id, destination_id, custom_field_id)
  GROUP BY content_id, destination_id, custom_field_id
)
SELECT pair, CAST(numbers[place] AS INTEGER) AS value_number
FROM opened
JOIN free USING (content_id, destination_id, custom_field_id)
