-- content with a column for each custom field. The marks are these columns, and the join that gives them.
SELECT
  content.*
  /* columns */
FROM content
/* join */
