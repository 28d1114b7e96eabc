-- What is to be asked of the definitions as they were: the temporary table history_questions. Each value that an item
-- gives, once, whatever the number of items that give it.
SELECT CAST(row_number() OVER () AS VARCHAR) AS question, *
FROM (
  SELECT DISTINCT epoch, destination_id, custom_field_id, input, is_id, own_text, answer
  FROM history_pairs
  WHERE event IN ('opened', 'changed', 'returned') AND epoch IS NOT NULL AND state <> 'first_seen'
)
