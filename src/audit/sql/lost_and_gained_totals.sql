-- How many values of lost_and_gained were lost and gained, and how many items lost some. changed: items whose payload at a
-- destination that receives values in both runs differs, is new or is gone.
SELECT
  count(DISTINCT content_id) FILTER (lost > 0) AS items,
  coalesce(sum(lost), 0)::BIGINT AS lost,
  coalesce(sum(gained), 0)::BIGINT AS gained,
  (
    SELECT count(DISTINCT content_id)
    FROM (
      SELECT content_id
      FROM (
        SELECT content_id, destination_id, hash(payload)::HUGEINT AS number
        FROM content_external_payloads
        UNION ALL
        SELECT content_id, destination_id, -hash(payload)::HUGEINT AS number
        FROM before_content_external_payloads
      )
      SEMI JOIN (
        SELECT destination_id
        FROM destinations AS now
        JOIN before_destinations AS before USING (destination_id)
        WHERE now.receives AND before.receives
      ) USING (destination_id)
      GROUP BY content_id, destination_id
      HAVING sum(number) <> 0
    )
  ) AS changed
FROM lost_and_gained
