-- The chosen items with the numbers of their answers: per destination, those of a key of the payload together, as the
-- payload has them.
--
-- $1  longest title, in characters; longer ones are cut
WITH listed AS (
  SELECT
    place,
    string_agg(
      CAST(answer AS VARCHAR), ','
      ORDER BY destination_id, external_field_name NULLS LAST, custom_field_id, ordinal
    ) AS answers
  FROM report_ledger
  GROUP BY place
)
SELECT
  chosen.content_id,
  left(content.title, $1::BIGINT) || CASE WHEN length(content.title) > $1::BIGINT THEN '…' ELSE '' END AS title,
  coalesce(content_types.display_name, content_types.field_name, content.content_type_id) AS type,
  strftime(content.published_date, '%Y-%m-%d') AS published,
  chosen.gaps,
  chosen.flagged,
  listed.answers
FROM report_chosen AS chosen
JOIN content USING (content_id)
LEFT JOIN content_types USING (content_type_id)
LEFT JOIN listed USING (place)
ORDER BY chosen.place
