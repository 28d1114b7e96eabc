-- Values that the chosen items gave in the run before and no longer give, as far as they were sent.
--
-- $1  longest text, in characters; longer ones are cut
SELECT
  content_id,
  destination_id,
  custom_field_id,
  name_before,
  value_id_before,
  left(value_before, $1::BIGINT) AS value_before,
  left(external_value_before, $1::BIGINT) AS external_value_before,
  status_before
FROM diff_shown
SEMI JOIN report_chosen USING (content_id)
WHERE change = 'lost' AND status_after IS NULL
ORDER BY content_id, destination_id, custom_field_id, ordinal, value_before
