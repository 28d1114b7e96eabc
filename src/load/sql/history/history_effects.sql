-- Questions whose answer changes if one family of definitions is as it was in an epoch: that family is a cause.
-- Marks: the mapping steps, with the family's tables as they were.
--
-- $1, $2  bounds of all questions
-- $3      the epoch
WITH content_custom_field_values AS (
  SELECT
    question AS content_id,
    custom_field_id,
    0 AS ordinal,
    input AS mapping_input,
    is_id AS mapping_input_is_id,
    own_text AS value
  FROM history_questions
  WHERE epoch = $3
),
mapping_targets AS (
  FROM /* mapping_targets */
),
mapping_inputs AS (
  FROM /* mapping_inputs */
),
mapping_answers AS (
  FROM /* mapping_answers */
),
answered AS (
  SELECT
    content_id AS question,
    destination_id,
    struct_pack(/* value_columns */) AS answer
  FROM (
    /* mapped_values */
  )
)
SELECT asked.question
FROM history_questions AS asked
LEFT JOIN answered ON answered.question = asked.question AND answered.destination_id = asked.destination_id
WHERE asked.epoch = $3
  -- Whether names meet is a cause of its own.
  AND answered.answer IS DISTINCT FROM struct_update(asked.answer, collision := answered.answer.collision)
