-- Order of the values in history_pairs: the temporary table history_orders, with a row for each field of an item at a
-- destination that has or had several values.
--
-- numbers         value numbers in the item's order; NULL if it has no value of the field
-- numbers_before  the same, when the item was last seen
-- causes          why they differ
WITH listed AS (
  SELECT content_id, destination_id, custom_field_id
  FROM history_pairs
  SEMI JOIN history_several USING (content_id, custom_field_id)
  UNION
  SELECT content_id, destination_id, custom_field_id
  FROM previous_mapped_value_order_history
  WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
),
pairs AS (
  SELECT
    pair.*,
    coalesce(pair.value_number, fresh.value_number) AS number,
    causes
  FROM history_pairs AS pair
  SEMI JOIN listed USING (content_id, destination_id, custom_field_id)
  LEFT JOIN history_numbers AS fresh ON fresh.pair = pair.rowid
  LEFT JOIN history_causes ON history_causes.pair = pair.rowid
),
fields AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    any_value(state) AS state,
    bool_or(event = 'kept') AS kept,
    bool_or(event IN ('opened', 'closed', 'lost')) AS other_values,
    flatten(list(causes) FILTER (event IN ('opened', 'closed', 'returned'))) AS causes_of_values,
    list(number) FILTER (answer_before IS NOT NULL) AS held
  FROM pairs
  GROUP BY content_id, destination_id, custom_field_id
),
places AS (
  SELECT content_id, destination_id, custom_field_id, unnest(ordinals) AS ordinal, number
  FROM pairs
  WHERE answer IS NOT NULL
),
now AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    map_from_entries(list((ordinal, number))) AS at_place,
    max(ordinal) AS last_place
  FROM places
  GROUP BY content_id, destination_id, custom_field_id
),
before AS (
  SELECT
    history.content_id,
    history.destination_id,
    history.custom_field_id,
    CAST(history.value_numbers AS INTEGER[]) AS known_numbers,
    history.valid_to_run IS NULL AS is_open
  FROM previous_mapped_value_order_history AS history
  JOIN history_items AS item USING (content_id)
  WHERE content_id >= $lower AND ($upper IS NULL OR content_id < $upper)
    AND (
      (item.state = 'changed' AND history.valid_to_run IS NULL)
      OR (item.state = 'returned' AND history.valid_to_run = item.removed_in_run)
    )
),
orders AS (
  SELECT
    content_id,
    destination_id,
    custom_field_id,
    fields.* EXCLUDE (content_id, destination_id, custom_field_id),
    list_transform(range(0, now.last_place + 1), lambda place: now.at_place[CAST(place AS INTEGER)]) AS numbers,
    -- A single value that was always alone has no order.
    coalesce(before.known_numbers, fields.held) AS numbers_before,
    coalesce(before.is_open, false) AS is_open,
    list_sort(list_filter(numbers, lambda number: number IS NOT NULL))
    IS NOT DISTINCT FROM list_sort(list_filter(numbers_before, lambda number: number IS NOT NULL)) AS same_values
  FROM fields
  LEFT JOIN now USING (content_id, destination_id, custom_field_id)
  LEFT JOIN before USING (content_id, destination_id, custom_field_id)
)
SELECT
  content_id,
  destination_id,
  custom_field_id,
  is_open,
  kept,
  numbers,
  NOT kept AND is_open AND numbers IS DISTINCT FROM numbers_before AS ends,
  NOT kept AND numbers IS NOT NULL AND (NOT is_open OR numbers IS DISTINCT FROM numbers_before) AS begins,
  CASE
    WHEN state = 'first_seen' THEN ['first_seen']
    ELSE list_filter(
      [/* causes */],
      lambda cause:
        CASE
          WHEN cause = 'item_returned' THEN state = 'returned'
          WHEN cause = 'reordered' THEN NOT other_values AND same_values AND numbers IS DISTINCT FROM numbers_before
          WHEN other_values THEN coalesce(list_contains(causes_of_values, cause), false)
          ELSE cause = 'item_changed' AND NOT same_values
        END
    )
  END AS causes
FROM orders
