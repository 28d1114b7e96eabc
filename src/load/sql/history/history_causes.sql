-- Causes why values in history_pairs begin, end or change: the temporary table history_causes.
--
-- The history has no values of unmapped fields. If a field was unmapped before, the mapping is the only cause.
--
-- held   values that the item had in the field at any destination
-- given  values that the item has now, mapped or not
WITH held AS (
  SELECT DISTINCT content_id, custom_field_id, coalesce(before.matched_text, before.value_id, before.value) AS input
  FROM previous_mapped_value_history AS before
  SEMI JOIN (FROM history_pairs WHERE event = 'opened') AS opened USING (content_id, custom_field_id)
  JOIN history_items AS item USING (content_id)
  WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
    AND before.valid_to_run IS NOT DISTINCT FROM item.removed_in_run
),
given AS (
  SELECT DISTINCT content_id, custom_field_id, mapping_input AS input
  FROM content_custom_field_values
  WHERE mapping_input IS NOT NULL
    AND content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
    AND content_id IN (SELECT content_id FROM history_pairs WHERE event = 'closed')
),
effects AS (
  SELECT
    question,
    bool_or(family = 'mapping') AS mapping,
    bool_or(family = 'definition') AS definition
  FROM history_effects
  GROUP BY question
),
bearing AS (
  SELECT
    pair.rowid AS pair,
    pair.state,
    pair.differs,
    CASE pair.event
      WHEN 'opened' THEN held.content_id IS NULL AND (pair.epoch IS NULL OR mapped.custom_field_id IS NOT NULL)
      WHEN 'closed' THEN given.content_id IS NULL
      ELSE false
    END AS item,
    CASE
      WHEN pair.event = 'closed' THEN target.mapping_id IS NULL
      ELSE coalesce(effects.mapping, false)
    END AS mapping,
    coalesce(effects.definition, false) AS definition,
    -- Another field has the name too, or no longer. If the field itself got another name, its mapping is the cause.
    CASE
      WHEN pair.answer.external_field_name IS DISTINCT FROM pair.answer_before.external_field_name THEN NULL
      WHEN pair.answer.collision AND NOT pair.answer_before.collision THEN 'collision_began'
      WHEN pair.answer_before.collision AND NOT pair.answer.collision THEN 'collision_ended'
    END AS collision
  FROM history_pairs AS pair
  LEFT JOIN held USING (content_id, custom_field_id, input)
  LEFT JOIN given USING (content_id, custom_field_id, input)
  LEFT JOIN mapping_targets AS target USING (destination_id, custom_field_id)
  LEFT JOIN history_mapped_before AS mapped
    ON mapped.epoch = pair.epoch AND mapped.custom_field_id = pair.custom_field_id
  LEFT JOIN effects USING (question)
  WHERE pair.event IN ('opened', 'changed', 'closed', 'returned')
)
SELECT
  pair,
  CASE
    WHEN state = 'first_seen' THEN ['first_seen']
    ELSE list_filter(
      [
        CASE WHEN state = 'returned' THEN 'item_returned' END,
        -- A difference that no definition explains comes from the item.
        CASE
          WHEN item THEN 'item_changed'
          WHEN differs AND NOT (mapping OR definition OR collision IS NOT NULL) THEN 'item_changed'
        END,
        CASE WHEN mapping THEN 'mapping_changed' END,
        collision,
        CASE WHEN definition THEN 'definition_changed' END
      ],
      lambda cause: cause IS NOT NULL
    )
  END AS causes
FROM bearing
