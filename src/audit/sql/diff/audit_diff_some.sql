-- Changes of diff_shown that send another payload, $1 at most: of each cause the first ones, one cause after the other in
-- turn, so that what touches thousands of items leaves room for what touches one.
WITH turns AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY causes ORDER BY destination_id, custom_field_id, content_id, ordinal, value_before, value_after
    ) AS turn
  FROM diff_shown
  WHERE change <> 'alike'
  QUALIFY turn <= $1::BIGINT
)
SELECT * EXCLUDE (turn)
FROM turns
ORDER BY turn, causes, destination_id, custom_field_id, content_id
LIMIT $1::BIGINT
