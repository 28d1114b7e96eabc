-- Values of fields in two runs by the history, for reordered_values. Fields that had an order in both runs; a single
-- value has none.
--
-- Reads asked_orders: a field of an item at a destination, the pair of runs, and their sequence numbers.
WITH ends AS (
  SELECT pair, content_id, destination_id, custom_field_id, 'before' AS side, sequence_before AS sequence
  FROM asked_orders
  UNION ALL
  SELECT pair, content_id, destination_id, custom_field_id, 'after' AS side, sequence_after AS sequence
  FROM asked_orders
),
lists AS (
  SELECT ends.*, CAST(history.value_numbers AS INTEGER[]) AS numbers
  FROM ends
  JOIN mapped_value_order_history AS history USING (content_id, destination_id, custom_field_id)
  JOIN run_history AS since ON since.run = history.valid_from_run
  LEFT JOIN run_history AS until ON until.run = history.valid_to_run
  WHERE since.sequence <= ends.sequence AND (until.sequence IS NULL OR until.sequence > ends.sequence)
  QUALIFY count(*) OVER (PARTITION BY pair, content_id, destination_id, custom_field_id) = 2
),
places AS (
  SELECT * EXCLUDE (numbers), unnest(numbers) AS value_number, generate_subscripts(numbers, 1) - 1 AS ordinal
  FROM lists
)
SELECT
  places.pair,
  content_id,
  destination_id,
  custom_field_id,
  places.side,
  places.ordinal,
  history.value_id,
  history.value
FROM places
JOIN mapped_value_history AS history USING (content_id, destination_id, custom_field_id, value_number)
JOIN run_history AS since ON since.run = history.valid_from_run
LEFT JOIN run_history AS until ON until.run = history.valid_to_run
WHERE since.sequence <= places.sequence AND (until.sequence IS NULL OR until.sequence > places.sequence)
