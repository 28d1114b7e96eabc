-- Rows of mapped_value_history of a range of items, except those of history_going_on and history_first_values.
SELECT * REPLACE ($run AS valid_to_run, $started_at AS valid_to, '["item_removed"]'::JSON AS valid_to_cause)
FROM previous_mapped_value_history
SEMI JOIN (SELECT content_id FROM history_fields WHERE state = 'removed') AS item USING (content_id)
WHERE valid_to_run IS NULL
  AND content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
UNION ALL BY NAME
SELECT
  content_id,
  destination_id,
  custom_field_id,
  value_number,
  unnest(answer_before),
  CASE WHEN answer_before.matched_by_text THEN input END AS matched_text,
  valid_from_run,
  valid_from,
  CASE WHEN event IN ('changed', 'closed') THEN $run END AS valid_to_run,
  CASE WHEN event IN ('changed', 'closed') THEN $started_at END AS valid_to,
  cause,
  CASE WHEN event IN ('changed', 'closed') THEN to_json(causes) END AS valid_to_cause
FROM history_pairs
LEFT JOIN history_causes ON history_causes.pair = history_pairs.rowid
WHERE state = 'changed' AND answer_before IS NOT NULL
UNION ALL BY NAME
SELECT
  content_id,
  destination_id,
  custom_field_id,
  coalesce(history_pairs.value_number, history_numbers.value_number) AS value_number,
  unnest(answer),
  CASE WHEN answer.matched_by_text THEN input END AS matched_text,
  $run AS valid_from_run,
  $started_at AS valid_from,
  to_json(causes) AS cause
FROM history_pairs
JOIN history_causes ON history_causes.pair = history_pairs.rowid
LEFT JOIN history_numbers ON history_numbers.pair = history_pairs.rowid
WHERE event IN ('opened', 'changed', 'returned')
