-- What is another between the two sides of diff_given, which has the columns of content_mapped_values: one row per value
-- of a field of an item at a destination that is not as it was, and one per field whose values stand in another order, by
-- the text of reordered_values in place of the mark.
-- A value that stayed is held against itself; those that went are held, in their order, against those that came.
--
-- change: gained, lost or changed, by what the destination is sent; alike, where that is the same and something else of
-- the value is not; reordered.
-- copies_before, copies_after: where an item gives a value at more places, or at fewer, how often it sends this.
--
-- $1  whether values of fields without value mappings are sent, as they are; on both sides what the later run says
-- $2  all causes, in their order; NULL: they cannot be told
WITH given AS (
  SELECT
    side,
    content_id,
    destination_id,
    custom_field_id,
    ordinal,
    value_number,
    copy,
    coalesce(CASE WHEN value_id IS NULL THEN 'text ' || value ELSE 'id ' || value_id END, '') AS input,
    {
      'external_field_name': external_field_name,
      'value_id': value_id,
      'value': value,
      'mapping_id': mapping_id,
      'mapping_value_id': mapping_value_id,
      'external_value': CASE
        WHEN external_field_name IS NULL THEN NULL
        WHEN status = 'mapped' THEN external_value
        WHEN status = 'no_value_mapping' AND $1::BOOLEAN THEN value
      END,
      'entry_value': external_value,
      'status': status,
      'flags': list_filter(
        [
          CASE WHEN value_archived THEN 'value_archived' END,
          CASE WHEN value_unknown THEN 'value_unknown' END,
          CASE WHEN ambiguous THEN 'ambiguous' END,
          CASE WHEN matched_by_text THEN 'matched_by_text' END,
          CASE WHEN destination_unsupported THEN 'destination_unsupported' END,
          CASE WHEN collision THEN 'collision' END
        ],
        lambda flag: flag IS NOT NULL
      ),
      'destination_unsupported': destination_unsupported
    } AS answer
  FROM diff_given
),
-- stays: both sides have this very copy of it; what is left over then is what began or ended
kept AS (
  SELECT
    *,
    count(*) OVER (
      PARTITION BY content_id, destination_id, custom_field_id, input, answer, value_number, copy
    ) = 2 AS stays
  FROM given
),
numbered AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY side, content_id, destination_id, custom_field_id, input, answer ORDER BY stays DESC, ordinal
    ) AS same
  FROM kept
),
-- What one side alone has.
differing AS (
  SELECT
    min(side) AS side,
    content_id,
    destination_id,
    custom_field_id,
    input,
    answer,
    min(ordinal) AS ordinal,
    min(copy) AS copy
  FROM numbered
  GROUP BY content_id, destination_id, custom_field_id, input, answer, same
  HAVING count(*) = 1
),
of_input AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY side, content_id, destination_id, custom_field_id, input ORDER BY ordinal) AS turn
  FROM differing
),
held AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    input,
    max(side) AS side,
    count(*) AS sides,
    any_value(ordinal) FILTER (side = 'before') AS ordinal_before,
    any_value(ordinal) FILTER (side = 'after') AS ordinal_after,
    list({'input': input, 'copy': copy}) AS copies,
    any_value(answer) FILTER (side = 'before') AS was,
    any_value(answer) FILTER (side = 'after') AS is_now
  FROM of_input
  GROUP BY content_id, destination_id, custom_field_id, input, turn
),
others AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY side, content_id, destination_id, custom_field_id
      ORDER BY coalesce(ordinal_before, ordinal_after), input
    ) AS turn
  FROM held
  WHERE sides = 1
),
pairs AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    input,
    [ordinal_before, ordinal_after] AS ordinals,
    copies,
    was,
    is_now
  FROM held
  WHERE sides = 2
  UNION ALL BY NAME
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    min(input) AS input,
    [any_value(ordinal_before), any_value(ordinal_after)] AS ordinals,
    flatten(list(copies)) AS copies,
    any_value(was) AS was,
    any_value(is_now) AS is_now
  FROM others
  GROUP BY content_id, destination_id, custom_field_id, turn
),
because AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    ordinals,
    list(cause) AS causes
  FROM (
    SELECT DISTINCT
      pair.content_id,
      pair.destination_id,
      pair.custom_field_id,
      pair.ordinals,
      unnest(events.causes) AS cause
    FROM pairs AS pair
    JOIN diff_events AS events
      ON events.content_id = pair.content_id
      AND events.destination_id = pair.destination_id
      AND events.custom_field_id = pair.custom_field_id
      AND list_contains(pair.copies, {'input': events.input, 'copy': events.copy})
  )
  GROUP BY content_id, destination_id, custom_field_id, ordinals
),
-- Of a value that one side has at more places, how often each sends what the further copy sends.
repeated AS (
  SELECT
    pair.content_id,
    pair.destination_id,
    pair.custom_field_id,
    pair.ordinals,
    count_if(given.side = 'before' AND given.sent = pair.sent) AS copies_before,
    count_if(given.side = 'after' AND given.sent = pair.sent) AS copies_after
  FROM (
    SELECT *, [coalesce(was, is_now).external_field_name, coalesce(was, is_now).external_value] AS sent
    FROM pairs
    WHERE was IS NULL OR is_now IS NULL
  ) AS pair
  JOIN (
    SELECT *, [answer.external_field_name, answer.external_value] AS sent
    FROM given
  ) AS given
    USING (content_id, destination_id, custom_field_id, input)
  GROUP BY pair.content_id, pair.destination_id, pair.custom_field_id, pair.ordinals
  HAVING bool_or(given.side = 'before') AND bool_or(given.side = 'after')
),
changes AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    coalesce(ordinals[2], ordinals[1]) AS ordinal,
    CASE
      WHEN was.external_value IS NOT DISTINCT FROM is_now.external_value
        AND (was.external_value IS NULL OR was.external_field_name = is_now.external_field_name)
        THEN 'alike'
      WHEN was.external_value IS NULL THEN 'gained'
      WHEN is_now.external_value IS NULL THEN 'lost'
      ELSE 'changed'
    END AS change,
    list_filter(CAST($2::JSON AS VARCHAR[]), lambda cause: list_contains(because.causes, cause)) AS causes,
    copies_before,
    copies_after,
    was,
    is_now
  FROM pairs
  LEFT JOIN because USING (content_id, destination_id, custom_field_id, ordinals)
  LEFT JOIN repeated USING (content_id, destination_id, custom_field_id, ordinals)
),
ordered_values AS (
  SELECT 1 AS pair, content_id, destination_id, custom_field_id, side, ordinal, value_id, value
  FROM diff_given
),
reordered_values AS (
  /* reordered_values */
),
texts AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    side,
    ordinal,
    coalesce(answer.external_value, answer.value) AS text
  FROM given
),
orders AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    CAST(to_json(list(texts.text ORDER BY texts.ordinal) FILTER (texts.side = 'before')) AS VARCHAR) AS before,
    CAST(to_json(list(texts.text ORDER BY texts.ordinal) FILTER (texts.side = 'after')) AS VARCHAR) AS after
  FROM reordered_values
  JOIN texts USING (content_id, destination_id, custom_field_id)
  WHERE texts.ordinal = CASE WHEN texts.side = 'before' THEN ordinal_before ELSE ordinal_after END
  GROUP BY content_id, destination_id, custom_field_id
)
SELECT
  content_id,
  destination_id,
  custom_field_id,
  ordinal,
  change,
  causes,
  was.value_id AS value_id_before,
  is_now.value_id AS value_id_after,
  was.value AS value_before,
  is_now.value AS value_after,
  was.external_field_name AS name_before,
  is_now.external_field_name AS name_after,
  was.external_value AS external_value_before,
  is_now.external_value AS external_value_after,
  was.status AS status_before,
  is_now.status AS status_after,
  array_to_string(was.flags, ' ') AS flags_before,
  array_to_string(is_now.flags, ' ') AS flags_after,
  was.mapping_id AS mapping_id_before,
  is_now.mapping_id AS mapping_id_after,
  was.mapping_value_id AS mapping_value_id_before,
  is_now.mapping_value_id AS mapping_value_id_after,
  copies_before,
  copies_after
FROM changes
UNION ALL BY NAME
SELECT
  content_id,
  destination_id,
  custom_field_id,
  'reordered' AS change,
  list_filter(CAST($2::JSON AS VARCHAR[]), lambda cause: cause = 'reordered') AS causes,
  before AS external_value_before,
  after AS external_value_after
FROM orders
