-- What the fields in diff_touched held in two runs, as the history has it: a row per value and run, before and after.
-- By diff_values and diff_orders; the text of the view mapped_value_intervals stands in place of the mark.
--
-- $1  sequence number of the earlier run
-- $2  that of the later one
WITH mapped_value_history AS (
  FROM diff_values
),
mapped_value_order_history AS (
  FROM diff_orders
),
intervals AS (
  /* intervals */
),
ends AS (
  SELECT 'before' AS side, $1::BIGINT AS sequence
  UNION ALL
  SELECT 'after' AS side, $2::BIGINT AS sequence
)
SELECT ends.side, intervals.*
FROM intervals
JOIN ends
  ON intervals.valid_from_sequence <= ends.sequence
  AND (intervals.valid_to_sequence IS NULL OR intervals.valid_to_sequence > ends.sequence)
