-- Values that two runs have in another order: a row for each value with its position in both runs. Each copy is a
-- value, and values that came or went do not change the order of others. A value is known by its ID, else by its
-- text.
--
-- Reads ordered_values: a row for each value of a field of an item at a destination in a run.
-- pair  the two runs that are compared
-- side  before or after
WITH copies AS (
  SELECT
    pair,
    content_id,
    destination_id,
    custom_field_id,
    side,
    ordinal,
    CASE WHEN value_id IS NULL THEN 'text ' || value ELSE 'id ' || value_id END AS input,
    row_number() OVER (
      PARTITION BY pair, content_id, destination_id, custom_field_id, side, input ORDER BY ordinal
    ) AS copy
  FROM ordered_values
),
lasting AS (
  SELECT
    pair,
    content_id,
    destination_id,
    custom_field_id,
    any_value(ordinal) FILTER (side = 'before') AS ordinal_before,
    any_value(ordinal) FILTER (side = 'after') AS ordinal_after
  FROM copies
  GROUP BY pair, content_id, destination_id, custom_field_id, input, copy
  HAVING count(*) = 2
),
moves AS (
  SELECT
    pair,
    content_id,
    destination_id,
    custom_field_id,
    lag(ordinal_after) OVER (
      PARTITION BY pair, content_id, destination_id, custom_field_id ORDER BY ordinal_before
    ) > ordinal_after AS overtakes
  FROM lasting
)
SELECT *
FROM lasting
SEMI JOIN (FROM moves WHERE overtakes) AS moved USING (pair, content_id, destination_id, custom_field_id)
