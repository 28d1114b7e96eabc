-- The changes of diff_shown by cause, destination and field, in the order of audit_diff_causes.
WITH of_item AS (
  SELECT
    causes,
    destination_id,
    custom_field_id,
    content_id,
    count(*) AS "values",
    count_if(change = 'gained') AS gained,
    count_if(change = 'lost') AS lost,
    count_if(change = 'changed') AS changed,
    count_if(change = 'reordered') AS reordered,
    count_if(change = 'alike') AS alike
  FROM diff_shown
  GROUP BY ALL
),
of_group AS (
  SELECT
    array_to_string(of_item.causes, ' ') AS causes,
    of_item.destination_id,
    of_item.custom_field_id,
    count(*)::BIGINT AS items,
    sum(of_item."values")::BIGINT AS "values",
    sum(of_item.gained)::BIGINT AS gained,
    sum(of_item.lost)::BIGINT AS lost,
    sum(of_item.changed)::BIGINT AS changed,
    sum(of_item.reordered)::BIGINT AS reordered,
    sum(of_item.alike)::BIGINT AS alike
  FROM of_item
  GROUP BY of_item.causes, of_item.destination_id, of_item.custom_field_id
)
SELECT
  of_group.causes,
  of_group.destination_id,
  destinations.name AS destination,
  of_group.custom_field_id,
  fields.name AS custom_field,
  of_group.* EXCLUDE (causes, destination_id, custom_field_id)
FROM of_group
LEFT JOIN diff_destinations AS destinations USING (destination_id)
LEFT JOIN diff_fields AS fields USING (custom_field_id)
ORDER BY
  sum(of_group."values") OVER (PARTITION BY of_group.causes) DESC,
  of_group.causes NULLS LAST,
  of_group."values" DESC,
  destination NULLS LAST,
  of_group.destination_id,
  custom_field NULLS LAST,
  of_group.custom_field_id
