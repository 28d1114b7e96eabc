-- Numbers of the values in history_pairs that go on or begin: the temporary table history_numbers. A value keeps its
-- number; a new one gets the first that is free, in the order of the item's list.
WITH fields AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    coalesce(list(value_number) FILTER (event IN ('same', 'changed', 'kept', 'returned')), []) AS taken,
    count(*) AS "values"
  FROM history_pairs
  GROUP BY content_id, destination_id, custom_field_id
  HAVING bool_or(event = 'opened')
),
free AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    list_filter(range(1, "values" + 1), lambda number: NOT list_contains(taken, number)) AS numbers
  FROM fields
),
opened AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    input,
    variant,
    row_number() OVER (
      PARTITION BY content_id, destination_id, custom_field_id
      ORDER BY ordinals, input, variant
    ) AS place
  FROM history_pairs
  WHERE event = 'opened'
)
SELECT content_id, destination_id, custom_field_id, input, variant, CAST(numbers[place] AS INTEGER) AS value_number
FROM opened
JOIN free USING (content_id, destination_id, custom_field_id)
