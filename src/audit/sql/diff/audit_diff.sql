-- Changes of mapped values between two runs (mapped_value_changes), with what the destination receives.
--
-- change  lost, gained: the item has the value in both runs, with an external value in only one; added, taken_away: the
--         value came or went with the item or its edit; changed; alike: the destination receives the same, but a status or
--         flag differs; reordered: the values of a field have another order, and no value is named
--
-- $1  sequence number of the earlier run
-- $2  that of the later one
-- $3  whether the later run sends values of fields without value mappings; applies to both
WITH changes AS (
  SELECT
    *,
    CASE
      WHEN external_field_name_before IS NULL THEN NULL
      WHEN status_before = 'mapped' THEN external_value_before
      WHEN status_before = 'no_value_mapping' AND $3::BOOLEAN THEN value_before
    END AS sent_before,
    CASE
      WHEN external_field_name_after IS NULL THEN NULL
      WHEN status_after = 'mapped' THEN external_value_after
      WHEN status_after = 'no_value_mapping' AND $3::BOOLEAN THEN value_after
    END AS sent_after,
    NOT list_has_any(causes, ['first_seen', 'item_removed', 'item_returned', 'item_changed'])
    OR coalesce(value_id_before = value_id_after, value_before = value_after, false) AS is_kept
  FROM mapped_value_changes($1::BIGINT, $2::BIGINT)
)
SELECT
  * EXCLUDE (change, changed_in_run, is_kept, external_value_before, external_value_after)
  RENAME (
    external_field_name_before AS name_before,
    external_field_name_after AS name_after,
    sent_before AS external_value_before,
    sent_after AS external_value_after
  ),
  CASE
    WHEN change = 'reordered' THEN change
    WHEN sent_before IS NOT DISTINCT FROM sent_after
      AND (sent_before IS NULL OR external_field_name_before = external_field_name_after)
      THEN 'alike'
    WHEN sent_before IS NULL THEN CASE WHEN is_kept THEN 'gained' ELSE 'added' END
    WHEN sent_after IS NULL THEN CASE WHEN is_kept THEN 'lost' ELSE 'taken_away' END
    ELSE 'changed'
  END AS change
FROM changes
