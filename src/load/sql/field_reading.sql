-- The text `given` if it reads as `column_type`, else NULL. A date may be an instant at midnight in UTC. A column
-- without a type takes any text.
CASE column_type
  WHEN 'DOUBLE' THEN CASE
    WHEN
      regexp_full_match(given, '-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?')
      AND coalesce(isfinite(TRY_CAST(given AS DOUBLE)), false)
      THEN given
  END
  WHEN 'DATE' THEN CASE
    WHEN regexp_full_match(given, '[0-9]{4}-[0-9]{2}-[0-9]{2}(T00:00:00(\.0+)?Z)?')
      THEN CAST(TRY_CAST(left(given, 10) AS DATE) AS VARCHAR)
  END
  WHEN 'BOOLEAN' THEN CASE WHEN given IN ('true', 'false') THEN given END
  ELSE given
END
