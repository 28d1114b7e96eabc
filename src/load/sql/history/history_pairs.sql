-- What became of each value: the temporary table history_pairs, history_before beside history_now. Further steps know a
-- row by its rowid, as `pair`.
--
-- $1  whether this run knows every field: an unsettled one says nothing of a field whose definition it did not look up
--
-- event     same      the version goes on
--           changed   another version of the same value takes its place
--           opened    the value was not there
--           closed    the value is no longer there
--           kept      the run cannot know
--           returned  the item was removed, and has come back with this value
--           lost      the item was removed, and has come back without it
-- differs   a destination that is named now, or no longer, is known better or worse: that is no change of its values
-- question  digest of what is to be asked of the definitions as they were; NULL: nothing
WITH known_fields AS (
  SELECT custom_field_id
  FROM custom_fields
  WHERE from_lookup
),
pairs AS (
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
    now.answer IS DISTINCT FROM
    CASE
      WHEN now.answer.destination_unsupported IS NULL OR before.answer.destination_unsupported IS NULL
        THEN struct_update(before.answer, destination_unsupported := now.answer.destination_unsupported)
      ELSE before.answer
    END AS differs,
    CASE
      WHEN before.answer IS NULL THEN 'opened'
      WHEN before.state = 'returned' THEN CASE WHEN now.answer IS NULL THEN 'lost' ELSE 'returned' END
      WHEN now.answer IS NOT NULL THEN CASE WHEN differs THEN 'changed' ELSE 'same' END
      WHEN $1::BOOLEAN OR custom_field_id IN (SELECT custom_field_id FROM known_fields) THEN 'closed'
      ELSE 'kept'
    END AS event
  FROM history_before AS before
  FULL JOIN history_now AS now USING (content_id, destination_id, custom_field_id, input, variant)
)
SELECT
  *,
  CASE
    WHEN event IN ('opened', 'changed', 'returned') AND state <> 'first_seen' AND epoch IS NOT NULL
      THEN hash(epoch, destination_id, custom_field_id, input, is_id, own_text, answer)
  END AS question
FROM pairs
