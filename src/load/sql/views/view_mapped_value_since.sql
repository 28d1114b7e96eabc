-- Each mapped value of now, since the run in which its status, external field name and external value became what they
-- are, and since when its flags are set. A value that the item gave up, or that another one replaced, begins anew.
WITH versions AS (
  SELECT
    history.*,
    first.sequence,
    coalesce(history.matched_text, history.value_id, history.value) AS input
  FROM mapped_value_history AS history
  JOIN run_history AS first ON first.run = history.valid_from_run
),
-- Sequence number of a version that is not preceded by one that says the same.
begun AS (
  SELECT
    *,
    CASE
      WHEN (valid_from_run, input, status, external_field_name, external_value)
        IS DISTINCT FROM lag((valid_to_run, input, status, external_field_name, external_value)) OVER same
        THEN sequence
    END AS since,
    CASE WHEN (valid_from_run, input, true) IS DISTINCT FROM lag((valid_to_run, input, value_archived)) OVER same THEN sequence END
      AS archived_since,
    CASE WHEN (valid_from_run, input, true) IS DISTINCT FROM lag((valid_to_run, input, ambiguous)) OVER same THEN sequence END
      AS ambiguous_since,
    CASE WHEN (valid_from_run, input, true) IS DISTINCT FROM lag((valid_to_run, input, collision)) OVER same THEN sequence END
      AS collision_since
  FROM versions
  WINDOW same AS (PARTITION BY content_id, destination_id, custom_field_id, value_number ORDER BY sequence)
)
SELECT
  content_id,
  destination_id,
  custom_field_id,
  value_number,
  external_field_name,
  value_id,
  value,
  matched_by_text,
  arg_max(valid_from_run, since) OVER same AS since_run,
  arg_max(cause, since) OVER same AS cause,
  CASE WHEN value_archived THEN arg_max(valid_from_run, archived_since) OVER same END AS value_archived_since_run,
  CASE WHEN ambiguous THEN arg_max(valid_from_run, ambiguous_since) OVER same END AS ambiguous_since_run,
  CASE WHEN collision THEN arg_max(valid_from_run, collision_since) OVER same END AS collision_since_run
FROM begun
WINDOW same AS (PARTITION BY content_id, destination_id, custom_field_id, value_number)
QUALIFY valid_to_run IS NULL
