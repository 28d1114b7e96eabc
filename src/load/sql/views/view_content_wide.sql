-- content with one column per custom field. The columns of the run's fields, and the join that gives them, stand in
-- place of the marks.
SELECT
  content.*
  /* columns */
FROM content
/* join */
