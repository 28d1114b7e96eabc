-- What is to be asked of the definitions as they were: the temporary table history_questions. Each value that an item
-- gives, once, whatever the number of items that give it.
--
-- digest  as history_pairs.question has it
SELECT CAST(row_number() OVER () AS VARCHAR) AS question, *
FROM (
  SELECT DISTINCT ON (digest)
    question AS digest,
    epoch,
    destination_id,
    custom_field_id,
    input,
    is_id,
    own_text,
    answer
  FROM history_pairs
  WHERE question IS NOT NULL
)
