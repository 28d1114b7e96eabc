-- What happened to each value: the temporary table history_pairs, which joins history_before with history_now. Later
-- steps refer to a row by its rowid, as `pair`.
--
-- $is_complete  whether this run knows all fields; an unsettled run knows only those whose definitions it looked up
--
-- event     same      the version continues
--           changed   the value gets a new version
--           opened    the value is new
--           closed    the value is gone
--           kept      the run cannot tell
--           returned  the item was removed, and is back with this value
--           lost      the item was removed, and is back without it
-- question  digest of the question to earlier definitions; NULL if there is none
WITH pairs AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    input,
    variant,
    before.value_number,
    before.answer AS answer_before,
    before.valid_from_run,
    before.valid_from,
    before.cause,
    coalesce(now.state, before.state) AS state,
    now.epoch,
    now.is_id,
    now.own_text,
    now.answer,
    now.ordinals,
    now.answer IS DISTINCT FROM before.answer AS differs,
    CASE
      WHEN before.answer IS NULL THEN 'opened'
      WHEN before.state = 'returned' THEN CASE WHEN now.answer IS NULL THEN 'lost' ELSE 'returned' END
      WHEN now.answer IS NOT NULL THEN CASE WHEN differs THEN 'changed' ELSE 'same' END
      WHEN $is_complete OR custom_field_id IN (SELECT custom_field_id FROM custom_fields WHERE from_lookup) THEN 'closed'
      ELSE 'kept'
    END AS event
  FROM history_before AS before
  FULL JOIN history_now AS now USING (content_id, destination_id, custom_field_id, input, variant)
)
SELECT
  *,
  CASE
    WHEN event IN ('opened', 'changed', 'returned') AND state <> 'first_seen' AND epoch IS NOT NULL
      THEN CAST(hash(epoch, destination_id, custom_field_id, input, is_id, own_text, answer) AS VARCHAR)
  END AS question
FROM pairs
