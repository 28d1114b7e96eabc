-- The chosen items of which something changed since the run before, by what the comparison of both runs kept.
--
-- change  payload, where one differs; alike, where all are as they were
SELECT content_id, CASE WHEN bool_or(payloads.content_id IS NOT NULL) THEN 'payload' ELSE 'alike' END AS change
FROM diff_shown
SEMI JOIN report_chosen USING (content_id)
LEFT JOIN diff_payloads AS payloads USING (content_id, destination_id)
GROUP BY content_id
