-- The chosen items with the numbers of their answers: per destination, those of a key of the payload together, as the
-- payload has them.
--
-- $1  longest title, in characters; longer ones are cut
--
-- A list per item, sorted in itself: an aggregate with an ORDER BY of its own takes 32 KB for each column of each item
-- that has more than a few values.
WITH listed AS (
  SELECT
    place,
    list_sort(
      list(
        {
          'destination_id': destination_id,
          'nameless': external_field_name IS NULL,
          'name': coalesce(external_field_name, ''),
          'custom_field_id': custom_field_id,
          'ordinal': ordinal,
          'answer': CAST(answer AS VARCHAR),
          'version': CAST(version AS VARCHAR)
        }
      )
    ) AS entries
  FROM report_ledger
  GROUP BY place
)
SELECT
  chosen.content_id,
  left(content.title, $1::BIGINT) || CASE WHEN length(content.title) > $1::BIGINT THEN '…' ELSE '' END AS title,
  coalesce(content_types.display_name, content_types.field_name, content.content_type_id) AS type,
  strftime(content.published_date, '%Y-%m-%d') AS published,
  array_to_string(list_transform(listed.entries, lambda entry: entry.answer), ',') AS answers,
  nullif(array_to_string(list_transform(listed.entries, lambda entry: entry.version), ','), '') AS versions,
  changed.change
FROM report_chosen AS chosen
JOIN content USING (content_id)
LEFT JOIN content_types USING (content_type_id)
LEFT JOIN listed USING (place)
LEFT JOIN report_changed AS changed ON changed.content_id = chosen.content_id
ORDER BY chosen.place
