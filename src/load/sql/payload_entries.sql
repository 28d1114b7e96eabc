-- What is sent of a payload. Values stand in ascending order of custom field ID, then in source order; keys in ascending
-- order of their bytes, so that a payload's text changes only where its content does, whatever becomes of the IDs of the
-- definitions.
--
-- A list per payload, sorted in itself: aggregates with an ORDER BY of their own need gigabytes for as many groups.
list_sort(
  list(
    {
      'name': external_field_name,
      'custom_field_id': custom_field_id,
      'ordinal': ordinal,
      'sent_value': sent_value
    }
  )
)
