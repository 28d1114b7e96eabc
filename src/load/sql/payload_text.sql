-- The text of a payload's entries. Rule 7: one key per external field name, always an array.
array_to_string(
  list_transform(
    entries,
    lambda entry, place:
      CASE
        WHEN place = 1 THEN '{' || to_json(entry.name) || ':['
        WHEN entry.name = entries[place - 1].name THEN ','
        ELSE '],' || to_json(entry.name) || ':['
      END || to_json(entry.sent_value)
  ),
  ''
) || ']}'
