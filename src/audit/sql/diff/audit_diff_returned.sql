-- Items that the earlier run did not have and that came back since, with the number of the run that last had them: from
-- it on the definitions behind their changes are compared. An item that is there has no `last_seen_run`, and did not come
-- back later.
--
-- $1  sequence number of the earlier run
SELECT items.content_id, max_by(seen.sequence, since.sequence) AS definitions_from
FROM content_history AS items
SEMI JOIN (
  SELECT content_id
  FROM diff_changes
  WHERE list_contains(causes, 'item_returned')
) AS returned USING (content_id)
JOIN run_history AS since ON since.run = items.valid_from_run
LEFT JOIN run_history AS seen ON seen.run = items.last_seen_run
LEFT JOIN run_history AS until ON until.run = items.valid_to_run
WHERE since.sequence <= $1::BIGINT
GROUP BY items.content_id
HAVING max_by(coalesce(until.sequence <= $1::BIGINT, false), since.sequence)
