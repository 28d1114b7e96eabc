-- Since when the mapped values of items are as they are, why, and what each was before: a value that stayed is held against
-- itself (where an item gives it by its ID and by its text, each against its own), and those that went in the same run, in their order, against those that came. Values that say the same of this
-- have the same number. By the temporary tables item_values and item_orders; the texts of audit_item_rows and of
-- mapped_value_versions stand in place of the marks.
--
-- was  the version before; NULL: there was none
--
-- $1  sequence number of the run
-- $2  longest text, in characters; longer ones are cut
WITH held AS (
  /* item_rows */
),
mapped_value_history AS (
  FROM item_values
),
mapped_value_order_history AS (
  FROM item_orders
),
versions AS (
  /* versions */
),
known AS (
  SELECT
    *,
    coalesce(CASE WHEN value_id IS NULL THEN 'text ' || value ELSE 'id ' || value_id END, '') AS input
  FROM versions
),
came AS (
  SELECT content_id, destination_id, custom_field_id, valid_from_run AS run, input, value_number, copy
  FROM known
),
went AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    valid_to_run AS run,
    input,
    value_number,
    copy,
    {
      'name': external_field_name,
      'value_id': value_id,
      'value': left(value, $2::BIGINT),
      'external_value': left(CASE status WHEN 'no_value_mapping' THEN value ELSE external_value END, $2::BIGINT),
      'status': status
    } AS was
  FROM known
  WHERE valid_to_run IS NOT NULL
),
stayed AS (
  SELECT came.*, went.was
  FROM came
  JOIN went USING (content_id, destination_id, custom_field_id, run, input, copy)
  QUALIFY row_number() OVER (
    PARTITION BY content_id, destination_id, custom_field_id, run, came.value_number, copy
    ORDER BY went.value_number <> came.value_number, went.value_number
  ) = 1
),
new_values AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY content_id, destination_id, custom_field_id, run ORDER BY value_number, copy
    ) AS turn
  FROM came
  ANTI JOIN stayed USING (content_id, destination_id, custom_field_id, run, input, copy)
),
old_values AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY content_id, destination_id, custom_field_id, run ORDER BY value_number, copy
    ) AS turn
  FROM went
  ANTI JOIN stayed USING (content_id, destination_id, custom_field_id, run, input, copy)
),
pairs AS (
  FROM stayed
  UNION ALL BY NAME
  SELECT new_values.* EXCLUDE (turn), old_values.was
  FROM new_values
  JOIN old_values USING (content_id, destination_id, custom_field_id, run, turn)
),
told AS (
  SELECT
    held.content_id,
    held.destination_id,
    held.custom_field_id,
    held.ordinal,
    held.since_sequence AS sequence,
    held.since_started_at[:10] AS day,
    held.begins,
    array_to_string(held.cause, ' ') AS causes,
    pairs.was,
    CASE
      WHEN pairs.was IS NOT NULL
        THEN {
          'name': held.external_field_name,
          'value_id': held.value_id,
          'value': left(held.value, $2::BIGINT),
          'external_value': left(
            CASE held.status WHEN 'no_value_mapping' THEN held.value ELSE held.external_value END,
            $2::BIGINT
          ),
          'status': held.status
        }
    END AS is_now
  FROM held
  LEFT JOIN pairs
    ON pairs.content_id = held.content_id
    AND pairs.destination_id = held.destination_id
    AND pairs.custom_field_id = held.custom_field_id
    AND pairs.run = held.version_from_run
    AND pairs.value_number = held.value_number
    AND pairs.copy = held.copy
)
SELECT
  *,
  dense_rank() OVER (ORDER BY sequence, causes, was, is_now) - 1 AS version
FROM told
