-- The changes of diff_shown by cause, what touches most values first. The text of audit_diff_counts stands in place of
-- the mark.
FROM (
  /* counts */
)
ORDER BY "values" DESC, items DESC, causes NULLS LAST
