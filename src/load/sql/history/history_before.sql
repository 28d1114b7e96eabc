-- Versions in the fields of history_fields that held when their items were last seen, with the columns of
-- history_now. They are the temporary table history_before. Versions of removed items have ended; others are open.
--
-- `held` is read a second time for fields with a repeated value. Usually there are none, and nothing is read.
WITH held AS NOT MATERIALIZED (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    before.value_number,
    coalesce(before.matched_text, before.value_id, before.value) AS input,
    struct_pack(/* value_columns */) AS answer,
    field.state,
    before.valid_from_run,
    before.valid_from,
    before.cause
  FROM previous_mapped_value_history AS before
  JOIN history_fields AS field USING (content_id, destination_id, custom_field_id)
  WHERE field.state IN ('changed', 'returned')
    AND before.valid_to_run IS NOT DISTINCT FROM field.removed_in_run
    AND content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
),
-- Fields in which a value occurs twice with different answers. A field that never had a second value has no order.
repeated AS (
  SELECT content_id, destination_id, custom_field_id
  FROM held
  SEMI JOIN (
    FROM previous_mapped_value_order_history
    WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
  ) AS listed USING (content_id, destination_id, custom_field_id)
  GROUP BY content_id, destination_id, custom_field_id, input
  HAVING count(*) > 1
)
SELECT *, 1 AS variant
FROM held
ANTI JOIN repeated USING (content_id, destination_id, custom_field_id)
UNION ALL BY NAME
SELECT
  *,
  row_number() OVER (PARTITION BY content_id, destination_id, custom_field_id, input ORDER BY answer) AS variant
FROM held
SEMI JOIN repeated USING (content_id, destination_id, custom_field_id)
