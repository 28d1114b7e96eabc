-- Questions to earlier definitions: the temporary table history_questions, with each input once, however many items
-- have it.
SELECT DISTINCT ON (question) question, epoch, destination_id, custom_field_id, input, is_id, own_text, answer
FROM history_pairs
WHERE question IS NOT NULL
