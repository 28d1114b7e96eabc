-- Fields of items at destinations whose versions are compared: the temporary table history_fields. All other open
-- versions are copied.
--
-- state  of the item: first_seen (only fields whose lists are not plain), returned, changed, removed
-- removed_in_run, epoch  of the item
--
-- Of a changed item, these are fields with a changed value, position or answer. Each value now and each value before
-- has a digest; a digest without a partner is a difference. If an unsettled run kept values that it did not see, the
-- open versions are not what the item had: then all fields of the item are compared.
WITH looked_at AS (
  SELECT content_id, state, state = 'changed' AND digest_before IS NOT NULL AS by_digest
  FROM history_items
  WHERE state IN ('changed', 'returned', 'removed')
    AND content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
),
now AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    hash(
      content_id, custom_field_id, destination_id, ordinal, /* value_columns */,
      CASE WHEN matched_by_text THEN text.matched_text END
    ) AS version
  FROM content_mapped_values
  SEMI JOIN (SELECT content_id FROM looked_at WHERE by_digest) AS item USING (content_id)
  LEFT JOIN history_texts AS text USING (content_id, custom_field_id, ordinal)
  WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
),
places AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    unnest(numbers) AS value_number,
    generate_subscripts(numbers, 1) - 1 AS ordinal
  FROM (
    SELECT content_id, destination_id, custom_field_id, CAST(value_numbers AS INTEGER[]) AS numbers
    FROM previous_mapped_value_order_history
    SEMI JOIN (SELECT content_id FROM looked_at WHERE by_digest) AS item USING (content_id)
    WHERE valid_to_run IS NULL
      AND content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
  )
),
before AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    hash(
      content_id, custom_field_id, destination_id, CAST(coalesce(places.ordinal, 0) AS INTEGER), /* value_columns */,
      matched_text
    ) AS version
  FROM previous_mapped_value_history
  SEMI JOIN (SELECT content_id FROM looked_at WHERE by_digest) AS item USING (content_id)
  LEFT JOIN places USING (content_id, destination_id, custom_field_id, value_number)
  WHERE valid_to_run IS NULL
    AND content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
),
fields AS (
  SELECT
    coalesce(now.content_id, before.content_id) AS content_id,
    coalesce(now.destination_id, before.destination_id) AS destination_id,
    coalesce(now.custom_field_id, before.custom_field_id) AS custom_field_id
  FROM now
  FULL JOIN before USING (version)
  WHERE now.content_id IS NULL OR before.content_id IS NULL
  UNION
  SELECT content_id, destination_id, custom_field_id
  FROM content_mapped_values
  SEMI JOIN (SELECT content_id FROM looked_at WHERE NOT by_digest) AS item USING (content_id)
  WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
  UNION
  SELECT content_id, destination_id, custom_field_id
  FROM previous_mapped_value_history
  SEMI JOIN (SELECT content_id FROM looked_at WHERE NOT by_digest) AS item USING (content_id)
  WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
  UNION
  SELECT content_id, destination_id, custom_field_id
  FROM content_mapped_values
  SEMI JOIN (FROM history_several WHERE NOT plain) AS listed USING (content_id, custom_field_id)
  SEMI JOIN (SELECT content_id FROM history_items WHERE state = 'first_seen') AS item USING (content_id)
  WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
)
SELECT content_id, destination_id, custom_field_id, item.state, item.removed_in_run, item.epoch
FROM fields
JOIN history_items AS item USING (content_id)
