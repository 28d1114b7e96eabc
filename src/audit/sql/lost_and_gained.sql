-- Values of items that lost or gained their external value since the run before, at destinations that receive values in
-- both runs. An item's values in a field are compared by ID, else by text, each copy once, wherever it stands. The mark
-- stands for the condition that a value is sent.
--
-- lost    copies that both runs have, with an external value only in the run before
-- gained  copies that both runs have, with an external value only now
-- text    text of the value in the run before
-- entry   mapping entry that a lost value had
--
-- $1  whether this run sends values of fields without value mappings; applies to both
WITH receivers AS (
  SELECT destination_id
  FROM destinations AS now
  JOIN before_destinations AS before USING (destination_id)
  WHERE now.receives AND before.receives
),
sent AS (
  SELECT content_id, destination_id, custom_field_id, hash(value_id, value)::HUGEINT AS number
  FROM content_mapped_values
  WHERE /* is_sent */
  UNION ALL
  SELECT content_id, destination_id, custom_field_id, -hash(value_id, value)::HUGEINT AS number
  FROM before_content_mapped_values
  WHERE /* is_sent */
),
touched AS MATERIALIZED (
  SELECT content_id, destination_id, custom_field_id
  FROM sent
  SEMI JOIN receivers USING (destination_id)
  GROUP BY ALL
  HAVING sum(number) <> 0
),
given AS (
  SELECT content_id, custom_field_id, ordinal, coalesce(value_id, mapping_input) AS value_key, true AS is_now
  FROM content_custom_field_values
  SEMI JOIN touched USING (content_id, custom_field_id)
  WHERE mapping_input IS NOT NULL
  UNION ALL BY NAME
  SELECT content_id, custom_field_id, ordinal, coalesce(value_id, mapping_input) AS value_key, false AS is_now
  FROM before_content_custom_field_values
  SEMI JOIN touched USING (content_id, custom_field_id)
  WHERE mapping_input IS NOT NULL
),
mapped AS (
  SELECT *, true AS is_now
  FROM content_mapped_values
  SEMI JOIN touched USING (content_id, destination_id, custom_field_id)
  UNION ALL BY NAME
  SELECT *, false AS is_now
  FROM before_content_mapped_values
  SEMI JOIN touched USING (content_id, destination_id, custom_field_id)
),
answered AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    value_key,
    is_now,
    value,
    mapping_value_id,
    coalesce(/* is_sent */, false) AS is_sent
  FROM touched
  JOIN given USING (content_id, custom_field_id)
  LEFT JOIN mapped USING (content_id, destination_id, custom_field_id, ordinal, is_now)
),
counted AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    value_key,
    count_if(is_sent AND is_now) - count_if(is_sent AND NOT is_now) AS more_sent,
    count_if(NOT is_sent AND is_now) - count_if(NOT is_sent AND NOT is_now) AS more_unsent,
    min(value) FILTER (is_sent AND NOT is_now) AS text,
    min(mapping_value_id) FILTER (is_sent AND NOT is_now) AS entry
  FROM answered
  GROUP BY ALL
)
SELECT
  content_id,
  destination_id,
  custom_field_id,
  value_key,
  greatest(least(-more_sent, more_unsent), 0) AS lost,
  greatest(least(more_sent, -more_unsent), 0) AS gained,
  text,
  entry
FROM counted
WHERE more_sent * more_unsent < 0
