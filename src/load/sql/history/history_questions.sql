-- Questions to earlier definitions: the temporary table history_questions, with each input once, however many items
-- have it.
--
-- digest  as in history_pairs.question
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
