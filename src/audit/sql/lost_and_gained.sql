-- Values of items that lost or gained their external value since the run before, at destinations that receive values in
-- both runs. An item's values in a field are compared by ID, else by text, each copy once, wherever it stands.
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
mapped AS NOT MATERIALIZED (
  SELECT
    *,
    CASE /* value_kind */
      WHEN 'mapped' THEN true
      WHEN 'no_value_mapping' THEN $1::BOOLEAN AND external_field_name IS NOT NULL AND value IS NOT NULL
      ELSE false
    END AS is_sent
  FROM (
    SELECT *, true AS is_now
    FROM content_mapped_values
    UNION ALL BY NAME
    SELECT *, false AS is_now
    FROM before_content_mapped_values
  )
  SEMI JOIN receivers USING (destination_id)
),
touched AS MATERIALIZED (
  SELECT content_id, destination_id, custom_field_id
  FROM mapped
  WHERE is_sent
  GROUP BY ALL
  HAVING sum(CASE WHEN is_now THEN 1 ELSE -1 END * hash(value_id, value)::HUGEINT) <> 0
),
given AS (
  SELECT content_id, custom_field_id, ordinal, coalesce(value_id, mapping_input) AS value_key, is_now
  FROM (
    SELECT *, true AS is_now
    FROM content_custom_field_values
    UNION ALL BY NAME
    SELECT *, false AS is_now
    FROM before_content_custom_field_values
  )
  SEMI JOIN touched USING (content_id, custom_field_id)
  WHERE mapping_input IS NOT NULL
),
counted AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    value_key,
    count_if(is_sent AND is_now) - count_if(is_sent AND NOT is_now) AS more_sent,
    count_if(is_sent IS NOT true AND is_now) - count_if(is_sent IS NOT true AND NOT is_now) AS more_unsent,
    min(value) FILTER (is_sent AND NOT is_now) AS text,
    min(mapping_value_id) FILTER (is_sent AND NOT is_now) AS entry
  FROM touched
  JOIN given USING (content_id, custom_field_id)
  LEFT JOIN (
    FROM mapped
    SEMI JOIN touched USING (content_id, destination_id, custom_field_id)
  ) USING (content_id, destination_id, custom_field_id, ordinal, is_now)
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
