-- Rows of the history of one kind of definitions; the marks are its names. An unsettled run ends a definition only if
-- it looked it up.
WITH before AS (
  SELECT *, /* columns_as_row */ AS definition
  FROM /* previous */
  WHERE valid_to_run IS NULL
),
now AS (
  SELECT /* columns */, /* columns_as_row */ AS definition
  FROM /* now */
),
pairs AS (
  SELECT
    /* key */,
    before.definition AS definition_before,
    before.valid_from_run,
    before.valid_from,
    before.cause,
    now.definition,
    CASE
      WHEN before.definition IS NULL THEN 'opened'
      WHEN now.definition IS NULL THEN CASE WHEN $is_complete OR /* looked_up */ THEN 'closed' ELSE 'same' END
      WHEN now.definition IS NOT DISTINCT FROM before.definition THEN 'same'
      ELSE 'changed'
    END AS event,
    CASE WHEN /* reordered */ THEN 'reordered' ELSE /* cause */ END AS reason
  FROM before
  FULL JOIN now USING (/* key */)
)
SELECT *
FROM /* previous */
WHERE valid_to_run IS NOT NULL
UNION ALL BY NAME
SELECT
  unnest(definition_before),
  valid_from_run,
  valid_from,
  CASE WHEN event IN ('changed', 'closed') THEN $run END AS valid_to_run,
  CASE WHEN event IN ('changed', 'closed') THEN $started_at END AS valid_to,
  cause,
  CASE WHEN event IN ('changed', 'closed') THEN to_json([reason]) END AS valid_to_cause
FROM pairs
WHERE definition_before IS NOT NULL
UNION ALL BY NAME
SELECT
  unnest(definition),
  $run AS valid_from_run,
  $started_at AS valid_from,
  to_json([
    CASE WHEN event = 'changed' OR [/* key */] IN (SELECT [/* key */] FROM /* previous */) THEN reason ELSE 'first_seen' END
  ]) AS cause
FROM pairs
WHERE event IN ('opened', 'changed')
