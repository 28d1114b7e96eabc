-- The chosen items as JSON, in their order.
--
-- $1  longest title, in characters; longer ones are cut
SELECT
  to_json(
    {
      'id': content_id,
      'slug': nullif(content.slug, ''),
      'title': left(content.title, $1::BIGINT) || CASE WHEN length(content.title) > $1::BIGINT THEN '…' ELSE '' END,
      'type': coalesce(content_types.display_name, content_types.field_name, content.content_type_id),
      'published': strftime(content.published_date, '%Y-%m-%d'),
      'without': chosen.without_external_value,
      'changed': chosen.changed,
      'count': chosen.values
    }
  )::VARCHAR AS row
FROM report_chosen AS chosen
JOIN content USING (content_id)
LEFT JOIN content_types USING (content_type_id)
ORDER BY chosen.place
